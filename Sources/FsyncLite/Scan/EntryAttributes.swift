import FileSystem

extension File {
    /// Whether it can have extended attributes of these kinds. A symlink can have only privileged ones.
    func mayHave(_ selection: ExtendedAttributes.Selection) -> Bool {
        (status.type != .symlink || selection.privileged) && !selection.isEmpty
    }
}

extension PathResolver {
    /// The extended attributes of an entry; nil if it no longer exists.
    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection
    ) throws(SystemError) -> ExtendedAttributes? {
        guard file.mayHave(selection) else { return ExtendedAttributes() }
        do {
            guard let (directory, name) = try location(of: file.path) else { return nil }
            return try directory.extendedAttributes(of: name, selection)
        } catch {
            guard Errno.noDirectory.contains(error.errno) else { throw error }
            return nil
        }
    }
}
