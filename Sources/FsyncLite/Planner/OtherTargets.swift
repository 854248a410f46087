import FileStorage
import FileSystem

// A write into the state of a target, or a copy into its tree, would bypass its history.

extension TargetRoot {
    /// The refusal of a directory in the state of a target, or with a reserved name, whether or not it exists.
    func enclosingStateRefusal() throws -> Refusal? {
        let isReserved = path.split(separator: UInt8(ascii: "/")).contains(
            where: FileName.isReservedWhenFolded)
        return try isReserved || anchor().liesInState()
            ? .insideState(path) : nil
    }

    /// The refusal of a directory in the tree of a target.
    func enclosingTargetRefusal() throws -> Refusal? {
        try enclosingTarget().map { .insideTarget(path, $0) }
    }

    /// The target in whose tree this directory is or will be; nil for none.
    func enclosingTarget() throws -> [UInt8]? {
        guard directory == nil else { return try directory?.enclosingTarget() }
        let anchor = try anchor()
        return try anchor.isTarget() ? anchor.path : anchor.enclosingTarget()
    }
}

extension PathCopy {
    /// The refusals of directories to copy into, if they are targets or the state of one.
    func targetRefusals(_ difference: Difference) throws -> [Refusal] {
        let resolver = PathResolver(directory)
        // Beside a target, such a directory would be in the way of the state.
        let states = try difference.created.compactMap { file -> Refusal? in
            guard let name = file.path.fileName, name.isReserved, let tree = name.treeOfState,
                let path = file.path.parent?.appending(tree),
                try resolver.status(of: path)?.type == .directory, try resolver.directory(path).isTarget()
            else { return nil }
            return .besideTarget(file.path)
        }
        return try states
            + difference.matches.map(\.target).filter(\.isDirectory).compactMap { file in
                let isState = file.path.fileName?.isReserved ?? false
                guard try isState || resolver.directory(file.path).isTarget() else { return nil }
                return .holdsTarget(file.path, isState: isState)
            }
    }
}
