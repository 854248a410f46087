import FileSystem

extension FileName {
    /// What the directory of the reserved name is called where it stands beside a tree, and not in it; nil where that
    /// would be too long.
    ///
    /// - Parameter suffix: of another directory of that tree.
    static func state(beside tree: FileName, suffix: String = "") -> FileName? {
        let name = Array(".".utf8) + tree.bytes + FileName.state.bytes + suffix.utf8
        return name.count <= 255 ? FileName(name) : nil
    }
}

extension Directory {
    /// The directory of the reserved name where it is not in this one but beside it: paths that begin with the name lead
    /// there all the same.
    func reservedDirectoryBeside() throws(SystemError) -> Directory? {
        guard try status(of: FileName.state) == nil, let location = try location(),
            let name = FileName.state(beside: location.name),
            try location.parent.status(of: name)?.type == .directory
        else { return nil }
        return try location.parent.directory(name)
    }
}
