import FileSystem

extension Difference {
    /// Sees to it that names of one file become names of one file: it is copied once, or kept, and linked.
    ///
    /// Done when it is known what is replaced, and again when something was left out.
    mutating func joinLinks() {
        // An attribute set on an object that has names outside the mirror, in the history for one, would change
        // those too.
        for index in pairs.indices where pairs[index].changesAttributes {
            let target = pairs[index].target.status
            if target.type != .directory, target.links > 1,
                !mirrorsLinks || !census.accountsForNames(of: target)
            {
                pairs[index].replacesContent = true
            }
        }
        links = [:]
        guard mirrorsLinks else { return }

        // A name of the target that no pair has stays as it is, and so does its file.
        let paired = Set(pairs.lazy.map(\.target.path))
        var leaders: [LinkedFile: Link] = [:]
        for pair in pairs where !pair.replacesContent && pair.source.isMultiplyLinked {
            if leaders[LinkedFile(pair.source.status)] == nil {
                leaders[LinkedFile(pair.source.status)] = .kept(pair.target)
            }
        }
        let arriving = created.map(\.file) + pairs.lazy.filter(\.replacesContent).map(\.source)
        for file in arriving.sorted() where file.isMultiplyLinked {
            if let leader = leaders[LinkedFile(file.status)] {
                links[file.path] = leader
            } else if let counterpart = census.counterpart(of: file.status),
                !paired.contains(counterpart.path)
            {
                leaders[LinkedFile(file.status)] = .kept(counterpart)
                links[file.path] = .kept(counterpart)
            } else {
                leaders[LinkedFile(file.status)] = .staged(file.path)
            }
        }
    }
}

extension File {
    fileprivate var isMultiplyLinked: Bool { isFile && linkCount > 1 }
}
