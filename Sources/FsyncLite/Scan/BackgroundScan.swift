import FileSystem

/// A scan that runs ahead on its own thread, so that two trees and a manifest are read in parallel. It preserves the
/// order. It is at most a few batches ahead, which limits memory.
package final class BackgroundScan: EntryStream {
    fileprivate struct Entry: Sendable {
        var pathEnd: Int
        var destinationEnd: Int
        var status: FileStatus
        var sight: Sight
        var exclusion: Exclusion
    }

    /// Consecutive entries.
    struct Batch: Sendable {
        fileprivate var paths: [UInt8] = []
        fileprivate var destinations: [UInt8] = []
        fileprivate var entries: [Entry] = []

        var isEmpty: Bool { entries.isEmpty }
        /// The waiting batches of a tree need about 1 MB in all, or 4 MB if paths are long.
        var isFull: Bool { entries.count >= BackgroundScan.batchSize || paths.count >= 1 << 18 }

        /// Adds an entry. The destination counts only if it is a symlink.
        mutating func append(
            _ path: [UInt8], _ status: FileStatus, _ sight: Sight, _ exclusion: Exclusion,
            destination: [UInt8]
        ) {
            paths.append(contentsOf: path)
            if status.type == .symlink { destinations.append(contentsOf: destination) }
            entries.append(
                Entry(
                    pathEnd: paths.count, destinationEnd: destinations.count, status: status,
                    sight: sight, exclusion: exclusion))
        }
    }

    private enum Message: Sendable {
        case batch(Batch)
        case end(TreeScan.Findings)
        case failure(any Error)
    }

    /// Complete after the last entry.
    package private(set) var findings = TreeScan.Findings()
    // The state of the consumer. Only one thread uses it, and its accesses never overlap. A check of that would cost
    // time several times for each entry.
    @exclusivity(unchecked) private var batch = Batch()
    @exclusivity(unchecked) private var index = -1
    /// The offset in the batch at which the path of the present entry begins.
    @exclusivity(unchecked) private var pathStart = 0
    /// The path of the present entry, if it was asked for.
    @exclusivity(unchecked) private var presentPath: RelativePath?
    private let queue = BoundedQueue<Message>(capacity: 16)
    private let thread = WorkerThread()

    /// The number of entries in a batch.
    private static let batchSize = 256

    /// - Parameter begin: starts the scan. It is called on the scan's thread.
    convenience init(_ begin: @escaping @Sendable () throws -> TreeCursor) throws {
        try self.init(producing: { push in try BackgroundScan.run(begin(), push) })
    }

    /// A scan whose entries `produce` supplies.
    ///
    /// - Parameter produce: called on the scan's thread. It passes batches in order, each with at least one entry,
    ///   until `push` returns false. Then it returns the findings.
    init(
        producing produce: @escaping @Sendable (_ push: (Batch) -> Bool) throws -> TreeScan.Findings?
    ) throws {
        let queue = queue
        try thread.start {
            do {
                guard let findings = try produce({ queue.push(.batch($0)) }) else { return }
                _ = queue.push(.end(findings))
            } catch {
                _ = queue.push(.failure(error))
            }
        }
    }

    deinit {
        queue.close()
    }

    /// - Returns: nil once the reader has closed the stream.
    private static func run(
        _ begun: TreeCursor, _ push: (Batch) -> Bool
    ) throws -> TreeScan.Findings? {
        var scan = begun
        var batch = Batch()
        // The first batch is small, so that the consumer can begin at once.
        var size = 16
        while try scan.advance() {
            scan.appendPath(to: &batch.paths)
            if scan.status.type == .symlink { batch.destinations.append(contentsOf: scan.destination) }
            batch.entries.append(
                Entry(
                    pathEnd: batch.paths.count, destinationEnd: batch.destinations.count,
                    status: scan.status, sight: scan.sight, exclusion: scan.exclusion))
            guard batch.entries.count == size || batch.isFull else { continue }
            guard push(batch) else { return nil }
            batch = Batch()
            size = batchSize
            batch.entries.reserveCapacity(size)
            batch.paths.reserveCapacity(size * 64)
        }
        guard batch.entries.isEmpty || push(batch) else { return nil }
        return scan.findings
    }

    package func advance() throws -> Bool {
        presentPath = nil
        pathStart = index >= 0 ? batch.entries[index].pathEnd : 0
        index += 1
        while index >= batch.entries.count {
            switch queue.pop() {
            case .batch(let next): batch = next
            case .end(let found):
                findings = found
                return false
            case .failure(let error): throw error
            }
            (index, pathStart) = (0, 0)
        }
        return true
    }

    package var path: RelativePath {
        if let presentPath { return presentPath }
        let path = RelativePath(validated: Array(batch.paths[pathStart..<batch.entries[index].pathEnd]))
        presentPath = path
        return path
    }

    package func withPathBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        batch.paths.withUnsafeBytes {
            body(UnsafeRawBufferPointer(rebasing: $0[pathStart..<batch.entries[index].pathEnd]))
        }
    }

    package var status: FileStatus { batch.entries[index].status }

    package var destination: [UInt8] {
        let start = index > 0 ? batch.entries[index - 1].destinationEnd : 0
        return Array(batch.destinations[start..<batch.entries[index].destinationEnd])
    }
    package var sight: Sight { batch.entries[index].sight }
    package var exclusion: Exclusion { batch.entries[index].exclusion }
}
