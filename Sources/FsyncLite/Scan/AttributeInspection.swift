import FileSystem

extension PathResolver {
    /// The extended attributes of an entry; nil if it no longer exists.
    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection
    ) throws(SystemError) -> ExtendedAttributes? {
        // Symlinks have only privileged attributes.
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

/// Reads the extended attributes of entries whose recorded ones may be outdated.
final class AttributeInspection {
    private let source: PathResolver
    private let target: PathResolver
    private let selection: ExtendedAttributes.Selection

    init(source: Directory, target: Directory, _ selection: ExtendedAttributes.Selection) {
        self.source = PathResolver(source)
        self.target = PathResolver(target)
        self.selection = selection
    }

    func attributes(
        of file: File, and other: File
    ) throws -> (source: ExtendedAttributes, target: ExtendedAttributes) {
        let there = try target.extendedAttributes(of: other, .readable) ?? ExtendedAttributes()
        // If the entry has vanished from the source, the next run will notice.
        return (try source.extendedAttributes(of: file, selection) ?? there, there)
    }

    /// The attributes of an entry that only the target has.
    func attributes(ofTarget file: File) throws -> ExtendedAttributes {
        try target.extendedAttributes(of: file, .readable) ?? file.extended
    }
}
