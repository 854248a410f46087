import FileSystem

/// What a stage asks of a source: where an entry's content lies, and with which attributes it goes.
struct ContentSource: Sendable {
    /// The source's root; of an earlier tree, the root of the target that it is one of.
    let root: Directory
    /// nil for a tree as it is on disk.
    let earlier: SnapshotTree?
    /// What is as it was then gets one more name instead of a copy.
    let linksFiles: Bool

    init(_ root: Directory, earlier: SnapshotTree? = nil, linksFiles: Bool = false) {
        self.root = root
        self.earlier = earlier
        self.linksFiles = linksFiles
    }

    var isEarlier: Bool { earlier != nil }

    /// Finds entries, wherever they lie.
    func walker() -> PathResolver {
        guard let earlier else { return PathResolver(root) }
        return PathResolver(root, places: { earlier.place(of: $0) })
    }

    /// The root as an entry.
    func rootFile(_ selection: ExtendedAttributes.Selection) throws -> File {
        if let root = earlier?.root { return root }
        var file = File(path: .root, status: try root.status(), destination: [])
        file.extended = try ObjectHandle(of: root).extendedAttributes(selection)
        return file
    }

    /// The extended attributes of an entry; none where it has gone meanwhile.
    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection, _ walker: PathResolver
    ) throws -> ExtendedAttributes {
        if earlier != nil { return file.extended }
        return try walker.extendedAttributes(of: file, selection) ?? ExtendedAttributes()
    }
}
