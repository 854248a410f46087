import FileSystem

/// What a target has of files that are copied: most of a copy's content may be in it.
struct OlderContent: Sendable {
    /// A file below a directory.
    struct Place: Sendable {
        let root: Directory
        let path: RelativePath

        /// Opens it; nil where it cannot be read.
        func open() -> AnnouncedFile? {
            do throws(SystemError) {
                let file = try PathResolver(root).open(path)
                let status = try calling("statx", path.bytes) { () throws(Errno) in
                    try file.descriptor.status()
                }
                return status.type == .file ? file : nil
            } catch {
                // More is copied without it.
                return nil
            }
        }
    }

    private let target: Directory
    private let replaced: @Sendable (RelativePath) -> File?
    private let parts: [RelativePath: Place]

    /// Up to this size, copying a file whole costs less than to wait for a comparison.
    private static let smallSize: ByteCount = 262_144

    /// - Parameters:
    ///   - parts: what an interrupted run has copied.
    ///   - replaced: the file of the target that is replaced by the one of a path.
    init(
        in target: Directory, parts: [RelativePath: Place],
        _ replaced: @escaping @Sendable (RelativePath) -> File?
    ) {
        (self.target, self.parts, self.replaced) = (target, parts, replaced)
    }

    /// Where there is older content of a file, the best first.
    func places(for file: File) -> [Place] {
        guard file.size > OlderContent.smallSize else { return [] }
        var places = parts[file.path].map { [$0] } ?? []
        if let older = replaced(file.path), older.size > OlderContent.smallSize {
            places.append(Place(root: target, path: older.path))
        }
        return places
    }
}
