import FileSystem

// The notes of a plan.

extension DirectorySource {
    func describe(_ plan: inout Plan) {
        var omissions = omissions
        if let root = plan.root, !root.changesAttributes { omissions.add(root.source) }
        plan.take(problems + omissions.problems)
        if !isJoined, let source = identities.first {
            plan.basis = Plan.Basis(
                manifest: header?.id, source: source.identity, target: root.original?.identity)
        }
        plan.notes = sourceNotes + comparisonNotes + targetNotes
        if let before = header?.filters, before != options.filters.summary {
            let left = plan.difference.uncovered.count { !$0.base.isUncovered }
            plan.notes.append(
                before.changes(to: options.filters.summary)
                    + (left == 0
                        ? ""
                        : "; the target still has \(Amount.entries(left)) that they exclude now: --delete-excluded deletes them")
            )
        }
        let shared = plan.difference.shared
        if let first = shared.first {
            let paths = shared.count == 1 ? "\(first)" : "\(first) and \(shared.count - 1) more"
            plan.notes.append(
                "source and target were hard links to one file, so an edit would change both. Copied again: \(paths)"
            )
        }
        let protected = plan.difference.protectedPaths
        if let first = protected.first {
            plan.notes.append(
                protected.count == 1
                    ? "1 directory is not deleted, as it contains excluded files: \(first)"
                    : "\(protected.count) directories are not deleted, as they contain excluded files: \(first) and others"
            )
        }
        if header == nil, options.adopt, let adopted = plan.adopted { plan.notes.append(adopted) }
    }

    private var sourceNotes: [String] {
        var notes: [String] = []
        if findings.omittedSockets > 0 {
            let count = findings.omittedSockets
            notes.append(
                count == 1
                    ? "1 socket is left out, as it has no data"
                    : "\(count) sockets are left out, as they have no data")
        }
        if header == nil, findings.metReservedName {
            notes.append(
                "the source's own .fsync-lite is left out, so its history is not copied; cp -a copies it")
        }
        if !keepsIdentity {
            notes.append(
                "the source's file system has no lasting inodes or change times: size and modification time decide"
            )
        }
        if let capabilities = root.capabilities, options.allowsWeakCommit {
            notes += capabilities.notes(leftOut: leftOut.kinds)
        }
        if header == nil, options.attributes.contains(.owner), !attributes.contains(.owner) {
            notes.append("owners are left unchanged: only root can set them")
        }
        if let (first, count) = opened {
            let others = count > 1 ? " and \(count - 1) more" : ""
            notes.append(
                "the owner of the copy may read \(first)\(others), which the owner in the source may not"
            )
        }
        return notes
    }

    private var comparisonNotes: [String] {
        guard let manifest, !isComparisonAsked, movedTimes > max(manifest.summary.files / 2, 100) else {
            return []
        }
        return [
            "\(movedTimes) files were read because their change times had changed, but no content had. A program such as cp -al or chown -R changes these times"
        ]
    }

    private var targetNotes: [String] {
        guard options.trustsManifest else { return [] }
        guard trustsManifest else {
            return ["the target was scanned, because it differs from its manifest"]
        }
        guard header != nil, !isTargetRecorded else { return [] }
        return [
            "the target was scanned, because its manifest has other filters or attributes, or lacks a mark, or excluded files are to be deleted"
        ]
    }

    func conclude(_ plan: inout Plan) {
        guard plan.refusals.isEmpty else { return }
        if let header, header.digests != nextDigestRule {
            plan.notes.append(
                nextDigestRule == nil
                    ? "later runs will record no digests"
                    : "later runs will record digests, too; --digest=none ends that")
        }
        guard nextRetention != header?.retention else { return }
        plan.notes.append(
            nextRetention.map {
                "these rules of retention are stored with the target, for later runs that have none: \($0)"
            }
                ?? "the rules of retention that were stored with the target are removed")
    }
}

extension FilterSummary {
    /// The changed lines, for people: the first of them.
    fileprivate func changes(to later: FilterSummary) -> String {
        let (before, after) = (Set(lines), Set(later.lines))
        let changes =
            later.lines.filter { !before.contains($0) }.map { "now \($0)" }
            + lines.filter { !after.contains($0) }.map { "no longer \($0)" }
        return "the filters changed since the last run: "
            + (changes.isEmpty
                ? "they have another order" : Amount.list(Array(changes.prefix(20)), of: changes.count))
    }
}
