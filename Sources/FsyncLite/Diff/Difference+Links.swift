import FileSystem

extension Difference {
    /// Sees to it that names of one file become names of one file: it is copied once, or kept, and linked.
    ///
    /// Done when it is known what is replaced, and again when something was left out.
    mutating func joinLinks() {
        // An attribute set on an object that has names outside the mirror, in the history for one, would change
        // those too.
        for index in matches.indices where matches[index].changesAttributes {
            let target = matches[index].target.status
            if target.type != .directory, target.links > 1,
                !mirrorsLinks || !census.accountsForNames(of: target)
            {
                matches[index].replacesContent = true
            }
        }
        links = [:]
        guard mirrorsLinks else { return }

        let arriving =
            created.lazy.map(\.file).filter(\.isMultiplyLinked)
            + matches.lazy.filter(\.replacesContent).map(\.source).filter(\.isMultiplyLinked)
        // A name of the target that no match has stays as it is, and so does its file.
        let paired = arriving.isEmpty ? [] : Set(matches.lazy.map(\.target.path))
        var primaries: [LinkedFile: Primary] = [:]
        for match in matches where !match.replacesContent && match.source.isMultiplyLinked {
            let file = LinkedFile(match.source.status)
            if primaries[file] == nil { primaries[file] = Primary(kept: match.target) }
        }
        var split: Set<RelativePath> = []
        for file in arriving.sorted() {
            let source = LinkedFile(file.status)
            if primaries[source] == nil, let counterpart = census.counterpart(of: file.status),
                !paired.contains(counterpart.path)
            {
                primaries[source] = Primary(kept: counterpart)
            }
            guard var primary = primaries[source] else {
                primaries[source] = Primary(link: .staged(file.path))
                continue
            }
            if let linkLimit, primary.names >= linkLimit {
                primary = Primary(link: .staged(file.path), isSplit: true)
            } else {
                links[file.path] = primary.link
                primary.names += 1
            }
            primaries[source] = primary
            if primary.isSplit { split.insert(file.path) }
        }
        note(split)
    }

    /// The file that others are names of.
    private struct Primary {
        var link: Link
        var names: UInt32 = 1
        /// The file before it can have no more names.
        var isSplit = false

        init(link: Link, isSplit: Bool = false) {
            (self.link, self.isSplit) = (link, isSplit)
        }

        init(kept file: File) {
            link = .kept(file)
            names = file.status.links
        }
    }

    /// Notes which names become those of a file of their own.
    private mutating func note(_ split: Set<RelativePath>) {
        guard linkLimit != nil else { return }
        func note(_ file: inout File) {
            guard file.omitted.contains(.links) != split.contains(file.path) else { return }
            file.omitted.formSymmetricDifference(.links)
        }
        for index in created.indices { note(&created[index].file) }
        for index in matches.indices where matches[index].replacesContent { note(&matches[index].source) }
    }
}

extension File {
    var isMultiplyLinked: Bool { !isDirectory && linkCount > 1 }
}
