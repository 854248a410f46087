import FileSystem

/// Looks up the extended attributes of entries for which nothing vouches.
final class AttributeInspection {
    private let source: TreeWalker
    private let target: TreeWalker
    private let selection: ExtendedAttributes.Selection

    init(source: Directory, target: Directory, _ selection: ExtendedAttributes.Selection) {
        self.source = TreeWalker(source)
        self.target = TreeWalker(target)
        self.selection = selection
    }

    func attributes(of pair: Pair) throws -> (source: ExtendedAttributes, target: ExtendedAttributes) {
        // The kernel knows no others on symlinks.
        if pair.source.status.type == .symlink, !selection.privileged {
            return (ExtendedAttributes(), ExtendedAttributes())
        }
        let target = try look(pair.target.path, in: target)
        // What has gone from the source meanwhile, the next run will miss.
        return (
            try look(pair.source.path, in: source) ?? target ?? ExtendedAttributes(),
            target ?? ExtendedAttributes()
        )
    }

    /// nil where nothing is any more.
    private func look(_ path: RelativePath, in tree: TreeWalker) throws(SystemError) -> ExtendedAttributes? {
        do {
            guard let (directory, name) = try tree.place(of: path) else { return nil }
            return try ObjectHandle(name, in: directory).extendedAttributes(selection)
        } catch {
            guard error.errno == .noSuchFile || error.errno == .notDirectory else { throw error }
            return nil
        }
    }
}
