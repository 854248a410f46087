import FileSystem

extension FileName {
    /// The name of the state directory beside a tree; nil if it would be too long.
    ///
    /// - Parameter suffix: for another reserved directory of that tree.
    static func state(beside tree: FileName, suffix: String = "") -> FileName? {
        let name = Array(".".utf8) + tree.bytes + FileName.state.bytes + suffix.utf8
        return name.count <= 255 ? FileName(name) : nil
    }
}

extension Directory {
    /// The state directory if it is beside this one: paths that begin with its name are resolved there.
    func reservedDirectoryBeside() throws(SystemError) -> Directory? {
        guard try status(of: FileName.state) == nil, let location = try location(),
            let name = FileName.state(beside: location.name),
            try location.parent.status(of: name)?.type == .directory
        else { return nil }
        return try location.parent.directory(name)
    }
}
