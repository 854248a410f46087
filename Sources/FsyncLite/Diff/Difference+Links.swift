import FileSystem

extension Difference {
    /// Changes entries. Until there is a plan, entries change only in here, and the planner checks that. Afterwards,
    /// names of one file in the source are names of one file in the target.
    package mutating func edit<Result>(_ change: (inout Difference) throws -> Result) rethrows -> Result {
        defer {
            joinLinks()
            isBetweenEdits = true
        }
        return try change(&self)
    }

    /// Makes names of one file in the source names of one file in the target. The file is copied once, or left in
    /// place, and then linked.
    private mutating func joinLinks() {
        // An object may have names outside the mirror, such as in the history. A new attribute would change those too.
        for index in changes.indices {
            let head = changes.head(at: index)
            guard head.changesAttributes, head.hasOtherNames else { continue }
            let target = changes[match: index].target.status
            if target.isMultiplyLinked, !mirrorsLinks || !linkIndex.hasAllNames(of: target) {
                changes[match: index].replacesContent = true
            }
        }
        links = [:]
        guard mirrorsLinks else { return }

        var arriving: [File] = []
        var keepsLinked = false
        for index in changes.indices {
            let head = changes.head(at: index)
            guard head.hasOtherNames, head.kind != .deleted else { continue }
            if head.arrives { arriving.append(changes[file: index]) } else { keepsLinked = true }
        }
        arriving.removeAll { !$0.isMultiplyLinked }
        // A target name without a match is left unchanged, with its file, unless it is deleted.
        let paired = arriving.isEmpty ? PackedPaths([]) : changes.targetPaths { $0.kind == .match }
        var primaries: [LinkedFile: Primary] = [:]
        // An earlier tree may have recorded the names of a file at different times.
        var differing: [RelativePath: File] = [:]
        func compare(_ file: File, to source: File?) {
            guard policy.pairsByNumber, let source, !source.hasAttributes(of: file) else { return }
            differing[file.path] = source.moved(to: file.path)
        }
        for index in changes.indices(of: .match) where keepsLinked && changes.head(at: index).hasOtherNames {
            let match = changes[match: index]
            guard !match.replacesContent, match.source.isMultiplyLinked else { continue }
            let file = LinkedFile(match.source.status.paired(by: policy, match.source.object))
            if let primary = primaries[file] {
                compare(match.source, to: primary.source)
            } else {
                primaries[file] = Primary(existing: match.target, match.source)
            }
        }
        var split: Set<RelativePath> = []
        for file in arriving {
            let status = file.status.paired(by: policy, file.object)
            let source = LinkedFile(status)
            if primaries[source] == nil, let counterpart = linkIndex.counterpart(of: status),
                !paired.contains(counterpart.path), changes.index(of: .deleted, at: counterpart.path) == nil
            {
                primaries[source] = Primary(existing: counterpart)
            }
            guard var primary = primaries[source] else {
                primaries[source] = Primary(staged: file)
                continue
            }
            if let linkLimit = policy.linkLimit, primary.names >= linkLimit {
                primary = Primary(staged: file, isSplit: true)
            } else {
                links[file.path] = primary.link
                primary.names += 1
                compare(file, to: primary.source)
            }
            primaries[source] = primary
            if primary.isSplit { split.insert(file.path) }
        }
        equalize(differing)
        note(split)
    }

    /// The file that others are names of.
    private struct Primary {
        let link: Link
        /// nil if it has no match.
        let source: File?
        var names: UInt32 = 1
        /// The previous file has reached the link limit.
        var isSplit = false

        init(staged file: File, isSplit: Bool = false) {
            (link, source, self.isSplit) = (.staged(file.path), file, isSplit)
        }

        init(existing file: File, _ source: File? = nil) {
            (link, self.source) = (.existing(file), source)
            names = file.status.links
        }
    }

    /// If names of one file have different attributes, all get those of the first name, as the file does.
    private mutating func equalize(_ differing: [RelativePath: File]) {
        guard !differing.isEmpty else { return }
        for index in changes.indices {
            let head = changes.head(at: index)
            guard head.hasOtherNames, head.kind != .deleted else { continue }
            if let file = differing[changes.path(at: index)] { changes[file: index] = file }
        }
    }

    /// Marks the names that become those of a separate file.
    private mutating func note(_ split: Set<RelativePath>) {
        guard policy.linkLimit != nil else { return }
        // Only files with other names have been split, or will be.
        for index in changes.indices {
            let head = changes.head(at: index)
            guard head.arrives, head.hasOtherNames else { continue }
            var file = changes[file: index]
            guard file.omitted.contains(.links) != split.contains(file.path) else { continue }
            file.omitted.formSymmetricDifference(.links)
            changes[file: index] = file
        }
    }
}

extension File {
    var isMultiplyLinked: Bool { status.isMultiplyLinked }

    fileprivate func hasAttributes(of other: File) -> Bool {
        Attributes(status, extended: extended) == Attributes(other.status, extended: other.extended)
    }
}
