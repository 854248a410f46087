import FileSystem
import Synchronization

/// Reads the directories of a tree in the order of a scan. In all but small trees, other threads read ahead of the scan.
///
/// The unread parts are in one list in the order of the scan. A directory that was read is replaced by its
/// subdirectories and later windows. So the first part that no thread has taken is the earliest one. The scan reads the
/// part that it needs itself. If another thread has taken that part, the scan reads the next one instead of sleeping.
/// It can always read its own next part, so no number of threads and no limit can block it.
final class DirectoryPrefetch {
    /// The root, with its first window.
    let root: ReadingList.Reading
    private let shared: Shared
    private let reader: DirectoryReader

    init(_ root: Directory, _ options: TreeScan.Options, filter: FilteredWalk?) throws(SystemError) {
        let device = try root.status().device
        let makeReader: @Sendable () -> DirectoryReader = {
            DirectoryReader(options, filter: filter, rootDevice: device)
        }
        reader = makeReader()
        shared = Shared(try DirectoryPrefetch.threads(options, root), options.descriptors, makeReader)
        self.root = try shared.read(root: root, reader)
    }

    deinit { shared.close() }

    /// The most threads. A joined directory has the usual number of the part with the most.
    private static func threads(_ options: TreeScan.Options, _ root: Directory) throws(SystemError) -> Int {
        if let threads = options.threads { return threads }
        var readers = 1
        for part in root.roots { readers = max(readers, try FileSystemInfo(of: part).readers) }
        return readers
    }

    /// The part with a number. It must be the next one in the order of the scan. Ask for each part once.
    ///
    /// - Parameter parent: opens the directory that contains it, if no handle is open for reading ahead.
    func next(
        _ id: Int, in parent: () throws(SystemError) -> Directory
    ) throws(SystemError) -> ReadingList.Reading {
        while true {
            switch shared.next(id) {
            case .ready(let result): return try result.get()
            case .wait, .end: shared.ready.wait()
            case .read(let assignment):
                let directory = Result { () throws(SystemError) in
                    if let directory = assignment.directory { return directory }
                    return try parent()
                }
                if let result = shared.read(assignment, in: directory, reader) { return try result.get() }
            }
        }
    }

    /// Forgets parts that the scan will not ask for, with all their contents.
    func discard(_ ids: [Int]) {
        shared.discard(ids)
    }

    private final class Shared: Sendable {
        private let list: Mutex<ReadingList>
        private let makeReader: @Sendable () -> DirectoryReader
        /// Wakes the scan.
        let ready = Semaphore()
        /// Wakes helpers without work.
        private let work = Semaphore()
        private let ended = Semaphore()

        init(_ threads: Int, _ descriptors: Int, _ makeReader: @escaping @Sendable () -> DirectoryReader) {
            self.makeReader = makeReader
            list = Mutex(ReadingList(helpers: threads - 1, descriptors: threads > 1 ? descriptors : 0))
        }

        /// Changes the list. Then starts and wakes threads and closes handles without the lock.
        private func change<Value: Sendable>(_ body: (inout ReadingList) -> Value) -> Value {
            let (value, deferred) = list.withLock { list in
                let value = body(&list)
                return (value, list.takeDeferred())
            }
            for _ in 0..<deferred.wakings.idle { work.signal() }
            for _ in 0..<deferred.wakings.new { startHelper() }
            if deferred.wakings.scan { ready.signal() }
            return value
        }

        func read(root: Directory, _ reader: DirectoryReader) throws(SystemError) -> ReadingList.Reading {
            let listed = try reader.list(root)
            var reading = ReadingList.Reading(
                listed: listed, window: try reader.window(listed.firstWindow, of: listed, in: root),
                directory: root)
            change { $0.insertRoot(&reading) }
            return reading
        }

        func next(_ id: Int) -> ReadingList.Step { change { $0.next(id) } }

        func discard(_ ids: [Int]) { change { $0.discard(ids) } }

        /// Reads a part. Returns it if the scan waits for it.
        func read(
            _ assignment: ReadingList.Assignment, in directory: Result<Directory, SystemError>,
            _ reader: DirectoryReader
        ) -> Result<ReadingList.Reading, SystemError>? {
            let result = Result { () throws(SystemError) in
                try Shared.read(assignment.part, of: assignment.parent, in: directory.get(), reader)
            }
            return change { $0.finish(assignment, result) }
        }

        private static func read(
            _ part: ReadingList.Part, of parent: ListedDirectory, in directory: Directory,
            _ reader: DirectoryReader
        ) throws(SystemError) -> ReadingList.Reading {
            switch part {
            case .window(let range):
                return ReadingList.Reading(
                    listed: parent, window: try reader.window(range, of: parent, in: directory))
            case .subdirectory(let index):
                let (listed, opened) = try reader.list(index, of: parent, in: directory)
                return ReadingList.Reading(
                    listed: listed, window: try reader.window(listed.firstWindow, of: listed, in: opened),
                    directory: opened)
            }
        }

        // MARK: Helpers

        private func startHelper() {
            do {
                try WorkerThread().start { [self] in
                    help()
                    ended.signal()
                }
            } catch {
                // The system has no threads left, so the present threads read.
                ended.signal()
            }
        }

        private func help() {
            let reader = makeReader()
            while true {
                switch change({ $0.nextOfHelper() }) {
                case .end, .ready: return
                case .wait: work.wait()
                case .read(let assignment):
                    guard let directory = assignment.directory else { return }
                    _ = read(assignment, in: .success(directory), reader)
                }
            }
        }

        /// Ends the helpers, each after its present part, and waits for them.
        func close() {
            for _ in 0..<change({ $0.end() }) { ended.wait() }
            // A thread that is ending may own this object a little longer, and with it every open directory.
            list.withLock { $0.removeAll() }
        }
    }
}
