import FileStorage
import FileSystem

// A write into the state of a target, or a copy into its tree, would go round its history.

extension TargetRoot {
    /// The refusal of a directory in the state of a target, or with a reserved name.
    func enclosingStateRefusal() throws -> Refusal? {
        let isReserved = path.split(separator: UInt8(ascii: "/")).contains {
            $0.elementsEqual(FileName.state.bytes)
        }
        let isEnclosed = try isReserved || isBelow { $0.isReserved }
        return isEnclosed
            ? Refusal("\(LocalFile(bytes: path)) lies in the state of a target; give another directory") : nil
    }

    /// The refusal of a directory in the tree of a target.
    func enclosingTargetRefusal() throws -> Refusal? {
        var enclosing: [UInt8]?
        _ = try isBelow(includingItself: directory == nil) { directory in
            guard try directory.holdsState() else { return false }
            enclosing = directory.path
            return true
        }
        return enclosing.map {
            Refusal(
                "\(LocalFile(bytes: path)) lies in the target \(LocalFile(bytes: $0)); give another directory"
            )
        }
    }

    /// Whether the root, or the directory that will hold it, has a name that is wanted, or lies below one.
    private func isBelow(_ isWanted: (FileName) -> Bool) throws -> Bool {
        var current = try anchor()
        while let (parent, name) = try current.location() {
            if isWanted(name) { return true }
            current = parent
        }
        return false
    }

    /// Whether a directory above the root is wanted.
    private func isBelow(includingItself: Bool, _ isWanted: (Directory) throws -> Bool) throws -> Bool {
        var current = try anchor()
        if includingItself, try isWanted(current) { return true }
        while let (parent, _) = try current.location() {
            if try isWanted(parent) { return true }
            current = parent
        }
        return false
    }
}

extension FileName {
    /// The state directory of a target, in it or beside it, or the place of its subvolumes.
    fileprivate var isReserved: Bool {
        guard self != FileName.state else { return true }
        guard bytes.first == UInt8(ascii: "."), bytes.count > FileName.state.bytes.count else { return false }
        return [[], Array("-trees".utf8)].contains { suffix in
            bytes.suffix(FileName.state.bytes.count + suffix.count).elementsEqual(
                FileName.state.bytes + suffix)
        }
    }
}

extension Directory {
    /// It is the root of a target.
    fileprivate func holdsState() throws(SystemError) -> Bool { try status(of: .state)?.type == .directory }
}

extension PathCopy {
    /// The refusals of directories to copy into that are targets, or the state of one.
    func targetRefusals(_ difference: Difference) throws -> [Refusal] {
        let resolver = PathResolver(directory)
        return try difference.matches.map(\.target).filter(\.isDirectory).compactMap { file in
            let isState = file.path.fileName?.isReserved ?? false
            guard try isState || resolver.status(of: file.path.appending(.state))?.type == .directory else {
                return nil
            }
            return Refusal(
                "\(file.path) there is \(isState ? "the state of a target" : "a target"); give another directory"
            )
        }
    }
}
