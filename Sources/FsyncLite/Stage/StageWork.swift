import Synchronization

/// State shared by the threads that fill a stage: the next entries, and the outcomes so far.
final class StageWork: Sendable {
    private let stagedEntries: [OperationGraph.StagedEntry]
    private let locations: StagedLocations
    private let monitor: any Monitor
    /// Groups of neighbouring entries; a thread takes one at a time.
    private let pieces: [[Int]]
    private let next = Atomic(0)
    private let hasFailed = Atomic(false)
    private let results: Mutex<(outcomes: OutcomeList, progress: SyncProgress)>

    /// Entries and bytes per piece, small enough that all threads end at about the same time.
    private static let pieceLimits = (entries: 32, bytes: Int64(8 << 20))

    /// - Parameter locations: of all staged entries, below the stage.
    init(_ stagedEntries: [OperationGraph.StagedEntry], _ locations: StagedLocations, _ monitor: any Monitor)
    {
        self.stagedEntries = stagedEntries
        self.locations = locations
        self.monitor = monitor
        pieces = StageWork.pieces(of: stagedEntries)
        var progress = SyncProgress(.staging)
        progress.totalEntries = stagedEntries.count
        progress.totalBytes = stagedEntries.reduce(0) { $0 &+ ($1.file.isFile ? $1.file.size : 0) }
        results = Mutex((OutcomeList(stagedEntries), progress))
    }

    /// All entries except directories, which have an order of their own, and further names of a file, which come after
    /// it.
    private static func pieces(of stagedEntries: [OperationGraph.StagedEntry]) -> [[Int]] {
        var pieces: [[Int]] = []
        var bytes: Int64 = 0
        for (index, entry) in stagedEntries.enumerated()
        where !entry.file.isDirectory && entry.primary == nil {
            if pieces.isEmpty || bytes >= pieceLimits.bytes
                || (pieces.last?.count ?? 0) >= pieceLimits.entries
            {
                pieces.append([])
                bytes = 0
            }
            pieces[pieces.count - 1].append(index)
            bytes += entry.file.isFile ? entry.file.size : 0
        }
        return pieces
    }

    var outcomes: OutcomeList { results.withLock(\.outcomes) }

    /// Stages pieces until none is left or another thread has failed.
    func run(_ worker: StageWorker) throws {
        // The bytes of the present file that were already reported.
        var counted: Int64 = 0
        worker.onCopy { [self] bytes in
            counted &+= Int64(bytes)
            count { $0.bytes &+= Int64(bytes) }
        }
        do {
            while !hasFailed.load(ordering: .relaxed) {
                let piece = next.add(1, ordering: .relaxed).oldValue
                guard piece < pieces.count else { return }
                for index in pieces[piece] where outcome(of: index) == nil {
                    counted = 0
                    end(
                        index, try worker.stage(stagedEntries[index].file, at: locations[index]),
                        counted: counted)
                }
            }
        } catch {
            hasFailed.store(true, ordering: .relaxed)
            throw error
        }
    }

    /// The outcome of an entry; nil until it is done.
    func outcome(of index: Int) -> Stage.Outcome? { results.withLock { $0.outcomes[index] } }

    /// Records an outcome.
    ///
    /// - Parameter counted: the bytes of it that were already reported.
    func end(_ index: Int, _ outcome: Stage.Outcome, counted: Int64 = 0) {
        let file = stagedEntries[index].file
        let isAsWanted = outcome.isStaged(as: file)
        results.withLock { $0.outcomes.set(index, outcome, isAsWanted: isAsWanted) }
        count { progress in
            progress.entries += 1
            if file.isFile { progress.bytes &+= file.size - counted }
        }
    }

    private func count(_ body: (inout SyncProgress) -> Void) {
        monitor.report(
            results.withLock { results in
                body(&results.progress)
                return results.progress
            })
    }
}
