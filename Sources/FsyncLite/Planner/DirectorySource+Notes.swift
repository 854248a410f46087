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
            plan.notes.append(before.changes(to: options.filters.summary))
        }
        let shared = plan.difference.shared
        if let first = shared.first {
            let paths = shared.count == 1 ? "\(first)" : "\(first) and \(shared.count - 1) more"
            plan.notes.append(
                "a hard link made source and target one file, so an edit of it would change both; copied anew: \(paths)"
            )
        }
        let protected = plan.difference.protectedPaths
        if let first = protected.first {
            plan.notes.append(
                protected.count == 1
                    ? "1 directory that would be deleted holds what is excluded and stays: \(first)"
                    : "\(protected.count) directories that would be deleted hold what is excluded and stay: \(first) and others"
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
                    ? "1 socket holds no data and is left out"
                    : "\(count) sockets hold no data and are left out")
        }
        if header == nil, findings.metReservedName {
            notes.append(
                "the source's own .fsync-lite is left out: the history is not copied; cp -a copies it")
        }
        if !keepsIdentity {
            notes.append(
                "the source's file system keeps no change times or inodes: size and modification time decide")
        }
        if let capabilities = root.capabilities, options.allowsWeakCommit {
            notes += capabilities.notes(leftOut: leftOut.kinds)
        }
        if header == nil, options.attributes.contains(.owner), !attributes.contains(.owner) {
            notes.append("owners are left alone: only root can set them")
        }
        if let (first, count) = opened {
            let others = count > 1 ? " and \(count - 1) more" : ""
            notes.append(
                "the mirror's owner may read \(first)\(others), which in the source only others than the owner may"
            )
        }
        return notes
    }

    private var comparisonNotes: [String] {
        var notes: [String] = []
        if let manifest, !isComparisonAsked, movedTimes > max(manifest.summary.files / 2, 100) {
            notes.append(
                "\(movedTimes) files were read because their change times had moved, and all were equal: something "
                    + "moves them, such as cp -al or chown -R"
            )
        }
        return notes
    }

    private var targetNotes: [String] {
        guard options.trustsManifest else { return [] }
        guard trustsManifest else {
            return ["the target was scanned: it is not as its manifest has it"]
        }
        guard header != nil, !isTargetRecorded else { return [] }
        return [
            "the target was scanned: its manifest is of other filters or attributes, or has no mark, "
                + "or what is excluded is to go"
        ]
    }

    func conclude(_ plan: inout Plan) {
        guard plan.refusals.isEmpty else { return }
        if let header, header.digests != nextDigestRule {
            plan.notes.append(
                nextDigestRule == nil
                    ? "later runs record no digests any more"
                    : "later runs record digests, too; --digest=none ends that")
        }
        guard nextRetention != header?.retention else { return }
        plan.notes.append(
            nextRetention.map { "kept with the target until others are given: \($0)" }
                ?? "the rules of retention that were kept with the target are forgotten")
    }
}

extension FilterSummary {
    /// The changed lines, for people: the first of them.
    fileprivate func changes(to later: FilterSummary) -> String {
        let (before, after) = (Set(lines), Set(later.lines))
        let changes =
            later.lines.filter { !before.contains($0) }.map { "+ \($0)" }
            + lines.filter { !after.contains($0) }.map { "- \($0)" }
        return "the filters are not those of last time: "
            + (changes.isEmpty
                ? "their order is another" : Amount.list(Array(changes.prefix(20)), of: changes.count))
    }
}
