import FileSystem

extension Difference {
    /// Until there is a plan, entries change only in here, which the planner checks: at its end, names of one file in the
    /// source are names of one file in the target.
    package mutating func edit<Result>(_ change: (inout Difference) throws -> Result) rethrows -> Result {
        defer {
            joinLinks()
            isBetweenEdits = true
        }
        return try change(&self)
    }

    /// Makes names of one file in the source names of one file in the target: it is copied once, or kept, and linked.
    private mutating func joinLinks() {
        // An attribute set on an object that has names outside the mirror, such as in the history, would change those
        // too.
        for index in matches.indices {
            let head = matches.head(at: index)
            guard head.changesAttributes, head.hasOtherNames else { continue }
            let target = matches[index].target.status
            if target.type != .directory, target.links > 1,
                !mirrorsLinks || !linkIndex.accountsForNames(of: target)
            {
                matches[index].replacesContent = true
            }
        }
        links = [:]
        guard mirrorsLinks else { return }

        var arriving: [File] = []
        var keepsLinked = false
        for index in created.indices where created.hasOtherNames(at: index) {
            arriving.append(created[index].file)
        }
        for index in matches.indices where matches.head(at: index).hasOtherNames {
            if !matches.head(at: index).replacesContent {
                keepsLinked = true
            } else {
                arriving.append(matches[index].source)
            }
        }
        arriving.removeAll { !$0.isMultiplyLinked }
        // A target name without a match stays as it is, and so does its file, unless it is deleted.
        let paired = arriving.isEmpty ? [] : Set(matches.indices.map { matches.targetPath(at: $0) })
        var primaries: [LinkedFile: Primary] = [:]
        // An earlier tree may have recorded the names of a file at different times.
        var differing: [RelativePath: File] = [:]
        func compare(_ file: File, to source: File?) {
            guard policy.pairsByNumber, let source, !source.hasAttributes(of: file) else { return }
            differing[file.path] = source.moved(to: file.path)
        }
        for index in matches.indices where keepsLinked && matches.head(at: index).hasOtherNames {
            let match = matches[index]
            guard !match.replacesContent, match.source.isMultiplyLinked else { continue }
            let file = LinkedFile(match.source.status.paired(by: policy, match.source.object))
            if let primary = primaries[file] {
                compare(match.source, to: primary.source)
            } else {
                primaries[file] = Primary(kept: match.target, match.source)
            }
        }
        var split: Set<RelativePath> = []
        for file in arriving.sorted() {
            let status = file.status.paired(by: policy, file.object)
            let source = LinkedFile(status)
            if primaries[source] == nil, let counterpart = linkIndex.counterpart(of: status),
                !paired.contains(counterpart.path), deleted.index(of: counterpart.path) == nil
            {
                primaries[source] = Primary(kept: counterpart)
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
        /// nil where it has no match.
        let source: File?
        var names: UInt32 = 1
        /// The previous file has reached the link limit.
        var isSplit = false

        init(staged file: File, isSplit: Bool = false) {
            (link, source, self.isSplit) = (.staged(file.path), file, isSplit)
        }

        init(kept file: File, _ source: File? = nil) {
            (link, self.source) = (.kept(file), source)
            names = file.status.links
        }
    }

    /// Gives names of a file that have other attributes those of its first name, which the file gets.
    private mutating func equalize(_ differing: [RelativePath: File]) {
        guard !differing.isEmpty else { return }
        for index in created.indices where created.hasOtherNames(at: index) {
            if let file = differing[created[index].file.path] { created[index].file = file }
        }
        for index in matches.indices where matches.head(at: index).hasOtherNames {
            if let file = differing[matches[index].source.path] { matches[index].source = file }
        }
    }

    /// Marks the names that become those of a separate file.
    private mutating func note(_ split: Set<RelativePath>) {
        guard policy.linkLimit != nil else { return }
        func note(_ file: inout File) {
            guard file.omitted.contains(.links) != split.contains(file.path) else { return }
            file.omitted.formSymmetricDifference(.links)
        }
        // Only files with other names have been split, or are.
        for index in created.indices where created.hasOtherNames(at: index) { note(&created[index].file) }
        for index in matches.indices {
            let head = matches.head(at: index)
            if head.replacesContent, head.hasOtherNames { note(&matches[index].source) }
        }
    }
}

extension File {
    var isMultiplyLinked: Bool { !isDirectory && linkCount > 1 }

    fileprivate func hasAttributes(of other: File) -> Bool {
        Attributes(status, extended: extended) == Attributes(other.status, extended: other.extended)
    }
}
