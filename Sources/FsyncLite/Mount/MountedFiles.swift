import FileSystem
import Synchronization

/// The files that are open in a mounted target.
final class MountedFiles: Sendable {
    private struct OpenFile {
        let node: UInt64
        /// nil if the kernel reads it by itself.
        let file: AnnouncedFile?
    }

    private struct State {
        var next: UInt64 = 1
        var files: [UInt64: OpenFile] = [:]
        /// How often each node is open, and its id where the kernel reads it. An inode is read in one way at a time.
        var ways: [UInt64: (backing: Int32?, count: Int)] = [:]
    }

    private let state = Mutex(State())

    /// - Parameter pass: lets the kernel read the file; nil if it cannot.
    func open(_ file: AnnouncedFile, of node: UInt64, _ pass: (borrowing FileDescriptor) -> Int32?)
        -> FuseOpening
    {
        state.withLock { state in
            var way = (backing: nil as Int32?, count: 0)
            if let known = state.ways[node] { way = known } else { way.backing = pass(file.descriptor) }
            state.ways[node] = (way.backing, way.count + 1)
            let handle = state.next
            state.next += 1
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
