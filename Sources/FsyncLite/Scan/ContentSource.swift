import FileSystem

/// Where a stage gets the content and the attributes of entries.
struct ContentSource: Sendable {
    /// The source's root; for an earlier tree, the root of its target.
    let root: Directory
    /// The present location of an entry's object in an earlier tree; nil for a tree on disk.
    private let location: (@Sendable (RelativePath) -> RelativePath)?
    /// The root as recorded in an earlier tree.
    private let earlierRoot: File?
    /// Unchanged objects are linked instead of copied.
    let linksFiles: Bool

    init(_ root: Directory) {
        (self.root, location, earlierRoot, linksFiles) = (root, nil, nil, false)
    }

    /// - Parameters:
    ///   - earlier: the root as recorded in the earlier tree; nil if it is unchanged.
    ///   - location: the present location of an entry's object, below the root of the target.
    init(
        _ root: Directory, earlier: File?, linksFiles: Bool,
        location: @escaping @Sendable (RelativePath) -> RelativePath
    ) {
        (self.root, earlierRoot, self.linksFiles, self.location) = (root, earlier, linksFiles, location)
    }

    var isEarlier: Bool { location != nil }

    /// Resolves entries to their present locations.
    func resolver() -> PathResolver {
        PathResolver(root, locations: location)
    }

    /// nil for several sources, which have no root of their own.
    func rootFile(_ selection: ExtendedAttributes.Selection) throws -> File? {
        if let earlierRoot { return earlierRoot }
        return root.isJoined ? nil : try ContentSource.file(of: root, selection)
    }

    static func file(of root: Directory, _ selection: ExtendedAttributes.Selection) throws -> File {
        var file = File(path: .root, status: try root.status(), destination: [])
        file.extended = try ObjectHandle(of: root).extendedAttributes(selection)
        return file
    }

    /// The extended attributes of an entry; empty if it no longer exists.
    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection, _ resolver: PathResolver
    ) throws -> ExtendedAttributes {
        if isEarlier { return file.extended }
        return try resolver.extendedAttributes(of: file, selection) ?? ExtendedAttributes()
    }
}
