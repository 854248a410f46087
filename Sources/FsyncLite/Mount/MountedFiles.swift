import FileSystem
import Synchronization

/// The files and directories that are open in a mounted target.
final class MountedFiles: Sendable {
    struct OpenDirectory: Sendable {
        let node: MountNode
        /// Of a snapshot; nil for the mount's own directories.
        var list: MountedList?
        var path = RelativePath.root
        var first = 0
        /// Of the mount's own.
        var names: [(name: [UInt8], node: MountNode)] = []
    }

    private struct OpenFile {
        let node: UInt64
        /// nil if the kernel reads it by itself.
        let file: AnnouncedFile?
    }

    private struct State {
        var next: UInt64 = 1
        var directories: [UInt64: OpenDirectory] = [:]
        var files: [UInt64: OpenFile] = [:]
        /// How often each node is open, and its id where the kernel reads it. An inode is read in one way at a time.
        var ways: [UInt64: (backing: Int32?, count: Int)] = [:]

        mutating func handle() -> UInt64 {
            defer { next += 1 }
            return next
        }
    }

    private let state = Mutex(State())

    func open(_ directory: OpenDirectory) -> UInt64 {
        state.withLock { state in
            let handle = state.handle()
            state.directories[handle] = directory
            return handle
        }
    }

    func directory(_ handle: UInt64) -> OpenDirectory? { state.withLock { $0.directories[handle] } }
    func closeDirectory(_ handle: UInt64) {
        state.withLock { _ = $0.directories.removeValue(forKey: handle) }
    }

    /// - Parameter pass: lets the kernel read the file; nil if it cannot.
    func open(_ file: AnnouncedFile, of node: UInt64, _ pass: (borrowing FileDescriptor) -> Int32?)
        -> FuseOpening
    {
        state.withLock { state in
            var way = (backing: nil as Int32?, count: 0)
            if let known = state.ways[node] { way = known } else { way.backing = pass(file.descriptor) }
            state.ways[node] = (way.backing, way.count + 1)
            let handle = state.handle()
            state.files[handle] = OpenFile(node: node, file: way.backing == nil ? file : nil)
            return way.backing.map { .passed(handle, $0) } ?? .cached(handle)
        }
    }

    func file(_ handle: UInt64) -> AnnouncedFile? { state.withLock { $0.files[handle]?.file } }

    /// - Returns: the id that the kernel needs no more.
    func close(_ handle: UInt64) -> Int32? {
        state.withLock { state in
            guard let file = state.files.removeValue(forKey: handle), let way = state.ways[file.node] else {
                return nil
            }
            state.ways[file.node] = way.count > 1 ? (way.backing, way.count - 1) : nil
            return way.count > 1 ? nil : way.backing
        }
    }
}
