import FileSystem

extension PathResolver {
    /// The extended attributes of an entry; nil where nothing is any more.
    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection
    ) throws(SystemError) -> ExtendedAttributes? {
        // The kernel knows only those of root on symlinks.
        guard file.status.type != .symlink || selection.privileged, !selection.isEmpty else {
            return ExtendedAttributes()
        }
        do {
            guard let (directory, name) = try location(of: file.path) else { return nil }
            return try directory.extendedAttributes(of: name, selection)
        } catch {
            guard error.errno == .noSuchFile || error.errno == .notDirectory else { throw error }
            return nil
        }
    }
}

/// Looks up the extended attributes of entries for which nothing vouches.
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
        let there = try target.extendedAttributes(of: other, selection) ?? ExtendedAttributes()
        // What has gone from the source meanwhile, the next run will miss.
        return (try source.extendedAttributes(of: file, selection) ?? there, there)
    }

    /// Those of an entry of the target alone.
    func attributes(ofTarget file: File) throws -> ExtendedAttributes {
        try target.extendedAttributes(of: file, selection) ?? file.extended
    }
}
