import FileSystem
import Synchronization

/// The state of the threads that fill a stage: the entries, and the outcomes so far.
final class StageWork: Sendable {
    fileprivate let stagedEntries: OperationGraph.StagedList
    private let monitor: any Monitor
    private let results: Mutex<Results>

    private struct Results {
        var staged: OperationGraph.StagedList
        var progress = SyncProgress(.staging)
        var reported: ContinuousClock.Instant?

        /// Several threads add many small files at once. If they reported each file, they would wait for each other.
        ///
        /// - Returns: the progress, if it is time to report it.
        mutating func count(_ body: (inout SyncProgress) -> Void) -> SyncProgress? {
            body(&progress)
            let now = ContinuousClock.now
            if progress.entries != progress.totalEntries, let reported, now - reported < .milliseconds(20) {
                return nil
            }
            reported = now
            return progress
        }
    }

    init(_ stagedEntries: OperationGraph.StagedList, _ monitor: any Monitor) {
        self.stagedEntries = stagedEntries
        self.monitor = monitor
        var results = Results(staged: stagedEntries)
        results.progress.totalEntries = stagedEntries.count
        results.progress.totalBytes =
            stagedEntries.lazy.map(\.file).filter(\.isFile).map(\.size).sum()
        self.results = Mutex(results)
    }

    /// The entries with their outcomes.
    var staged: OperationGraph.StagedList { results.withLock(\.staged) }

    /// Stages all entries that have no outcome. Directories have an order of their own, and more names of a file come
    /// after the file, so both are left out.
    ///
    /// - Parameter filesPerItem: the number of files that a worker opens ahead for an entry.
    func run(threads: Int, filesPerItem: Int, _ makeWorker: @escaping @Sendable () -> StageWorker) throws {
        let pipeline = FilePipeline(threads: threads, filesPerItem: filesPerItem) { Part(self, makeWorker()) }
        defer { pipeline.close() }
        for (index, entry) in stagedEntries.enumerated()
        where !entry.file.isDirectory && entry.primary == nil && outcome(of: index) == nil {
            try pipeline.add(index, bytes: entry.file.isFile ? entry.file.size : 0) {}
        }
        try pipeline.finish {}
    }

    /// The part of one thread.
    private final class Part: FileWorker {
        private let work: StageWork
        private let worker: StageWorker
        /// Items of the present piece whose files are not announced.
        private var unannounced: ArraySlice<Int> = []
        /// The bytes of the present file that were already reported.
        private var counted: ByteCount = 0

        init(_ work: StageWork, _ worker: StageWorker) {
            (self.work, self.worker) = (work, worker)
            worker.onCopy { [unowned self] bytes in
                counted += ByteCount(clamping: bytes)
                work.report(work.results.withLock { $0.count { $0.bytes += ByteCount(clamping: bytes) } })
            }
        }

        func announce(_ indices: [Int]) {
            unannounced = indices[...]
            announceRest()
        }

        /// Announces the rest of the files, once the first copy of a thread has shown that copies read the source.
        private func announceRest() {
            guard worker.readsContent, unannounced.count > 1 else { return }
            worker.announce(unannounced.map { work.stagedEntries.file(at: $0) })
            unannounced = []
        }

        func value(of index: Int) throws {
            unannounced = unannounced.dropFirst()
            counted = 0
            let file = work.stagedEntries.file(at: index)
            let outcome = try worker.stage(index, file, at: work.stagedEntries.location(at: index))
            work.end(index, file, outcome, counted: counted)
            announceRest()
        }
    }

    /// The outcome of an entry; nil until it is done.
    func outcome(of index: Int) -> Stage.Outcome? { results.withLock { $0.staged.outcome(at: index) } }

    /// Records an outcome.
    ///
    /// - Parameters:
    ///   - file: the file of the entry.
    ///   - counted: the bytes of it that were reported already.
    func end(_ index: Int, _ file: File, _ outcome: Stage.Outcome, counted: ByteCount = 0) {
        let isAsWanted = outcome.isStaged(as: file)
        report(
            results.withLock { results in
                results.staged.set(outcome, at: index, isAsWanted: isAsWanted)
                return results.count { progress in
                    progress.entries += 1
                    if file.isFile { progress.bytes = progress.bytes - counted + file.size }
                }
            })
    }

    private func report(_ progress: SyncProgress?) {
        if let progress { monitor.report(progress) }
    }
}
