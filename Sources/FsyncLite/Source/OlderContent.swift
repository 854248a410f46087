import FileSystem

/// The target's content of files that are copied. It may have most of the content of a copy.
struct OlderContent: Sendable {
    /// A file below a directory.
    struct Place: Sendable {
        let root: Directory
        let path: RelativePath

        /// Opens the file; nil if it cannot be read.
        func open() -> AnnouncedFile? {
            do throws(SystemError) {
                let file = try PathResolver(root).open(path)
                let status = try calling("statx", path.bytes) { () throws(Errno) in
                    try file.descriptor.status()
                }
                return status.type == .file ? file : nil
            } catch {
                // Without it, more is copied.
                return nil
            }
        }
    }

    private let target: Directory
    private let replaced: @Sendable (RelativePath) -> File?
    private let parts: [RelativePath: Place]

    /// Up to this size, copying a whole file takes less time than a comparison.
    private static let smallSize: ByteCount = 262_144

    /// - Parameters:
    ///   - parts: the files that an interrupted run has copied.
    ///   - replaced: the target's file that will be replaced by the new one at a path.
    init(
        in target: Directory, parts: [RelativePath: Place],
        _ replaced: @escaping @Sendable (RelativePath) -> File?
    ) {
        (self.target, self.parts, self.replaced) = (target, parts, replaced)
    }

    /// The places of older content of a file. The best one is first.
    func places(for file: File) -> [Place] {
        guard file.size > OlderContent.smallSize else { return [] }
        var places = parts[file.path].map { [$0] } ?? []
        if let older = replaced(file.path), older.size > OlderContent.smallSize {
            places.append(Place(root: target, path: older.path))
        }
        return places
    }
}
