import FileSystem

extension PathResolver {
    /// The extended attributes of an entry; nil if it no longer exists.
    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection
    ) throws(SystemError) -> ExtendedAttributes? {
        // A symlink can have only privileged attributes.
        guard file.status.type != .symlink || selection.privileged, !selection.isEmpty else {
            return ExtendedAttributes()
        }
        do {
            guard let (directory, name) = try location(of: file.path) else { return nil }
            return try directory.extendedAttributes(of: name, selection)
        } catch {
            guard Errno.noDirectory.contains(error.errno) else { throw error }
            return nil
        }
    }
}
