import FileSystem

/// What a stage asks of a source: where an entry's content lies, and with which attributes it goes.
struct ContentSource: Sendable {
    /// The source's root; of an earlier tree, the root of the target that it is one of.
    let root: Directory
    /// Where the object of an entry of an earlier tree is now; nil for a tree as it is on disk.
    private let location: (@Sendable (RelativePath) -> RelativePath)?
    /// The root as an earlier tree has it.
    private let earlierRoot: File?
    /// What is as it was then gets one more name instead of a copy.
    let linksFiles: Bool

    init(_ root: Directory) {
        (self.root, location, earlierRoot, linksFiles) = (root, nil, nil, false)
    }

    /// - Parameters:
    ///   - earlier: the root of the earlier tree; nil where it is as it is on disk.
    ///   - location: where the object of an entry is now, below the root of the target.
    init(
        _ root: Directory, earlier: File?, linksFiles: Bool,
        location: @escaping @Sendable (RelativePath) -> RelativePath
    ) {
        (self.root, earlierRoot, self.linksFiles, self.location) = (root, earlier, linksFiles, location)
    }

    var isEarlier: Bool { location != nil }

    /// Finds entries, wherever they lie.
    func resolver() -> PathResolver {
        PathResolver(root, locations: location)
    }

    /// The root as an entry.
    func rootFile(_ selection: ExtendedAttributes.Selection) throws -> File {
        if let earlierRoot { return earlierRoot }
        var file = File(path: .root, status: try root.status(), destination: [])
        file.extended = try ObjectHandle(of: root).extendedAttributes(selection)
        return file
    }

    /// The extended attributes of an entry; none where it has gone meanwhile.
    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection, _ resolver: PathResolver
    ) throws -> ExtendedAttributes {
        if isEarlier { return file.extended }
        return try resolver.extendedAttributes(of: file, selection) ?? ExtendedAttributes()
    }
}
