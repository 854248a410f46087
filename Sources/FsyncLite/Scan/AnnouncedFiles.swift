import FileSystem

/// Files of a tree that a thread has opened and announced, in the order in which it will read them.
struct AnnouncedFiles {
    private let tree: PathResolver
    private var files: ArraySlice<(path: RelativePath, file: AnnouncedFile)> = []

    init(_ tree: PathResolver) {
        self.tree = tree
    }

    /// Announces files, and closes earlier ones that were not taken. A file that cannot be opened is left out. The
    /// reader opens it again and gets the error.
    ///
    /// - Parameter prepare: called for each file before it is announced.
    mutating func announce(
        _ paths: some Sequence<RelativePath>, prepare: (AnnouncedFile) -> Void = { _ in }
    ) {
        files = []
        for path in paths {
            guard let (directory, name) = try? tree.location(of: path),
                let file = try? directory.openContent(name)
            else { continue }
            prepare(file)
            file.announce()
            files.append((path, file))
        }
    }

    /// The announced file of a path; nil if there is none. It can be taken once.
    mutating func take(_ path: RelativePath) -> AnnouncedFile? {
        guard let index = files.firstIndex(where: { $0.path == path }) else { return nil }
        defer { files = files[(index + 1)...] }
        return files[index].file
    }
}
