import FileSystem

extension Action {
    /// An entry that moved with its directory; its type is not recorded.
    init(carried path: RelativePath, from before: RelativePath) {
        self.init(
            .move,
            File(
                path: path, status: FileStatus(type: .file, modified: .init(seconds: 0, nanoseconds: 0)),
                destination: []),
            from: before, causes: [.renamed])
        size = nil
    }
}
