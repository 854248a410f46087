import FileSystem

/// A directory of a source that was the root of a mount.
package struct SourceMount: Hashable, Sendable {
    package var path: RelativePath
    /// See `Directory.lastingFileSystem()`.
    package var fileSystem: String

    /// Whether it is in memory. Such a mount and its directory vanish when a session ends.
    var isMemory: Bool { fileSystem.hasPrefix("tmpfs ") }
}
