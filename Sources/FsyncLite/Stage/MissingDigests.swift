import FileSystem

/// Computes missing digests of unchanged files, several at a time, only where source and target agree: otherwise a
/// damaged copy would become the reference for the other.
final class MissingDigests {
    private let pipeline: FilePipeline<Worker>
    private var without: [(path: RelativePath, reason: String)] = []

    /// - Parameters:
    ///   - scanned: when the scan began: changes in the target since then were not compared.
    ///   - mostHoles: a file with more bytes of holes gets none.
    init(
        source: any ContentSource, target: Directory, scanned: FileTime, mostHoles: Int64, threads: Int,
        monitor: any Monitor
    ) {
        pipeline = FilePipeline(threads: threads, filesPerItem: 2) {
            Worker(
                source: source.digests(monitor),
                target: DigestReader(target, monitor: monitor, mostHoles: mostHoles),
                scanned: scanned)
        }
    }

    /// Adds an entry of the new manifest, and writes those before it whose digests are there, in order.
    func add(_ entry: ManifestUpdate.Entry, _ write: (ManifestUpdate.Entry) -> Void) throws {
        try pipeline.add(entry, bytes: Worker.location(entry) == nil ? 0 : entry.file.size) {
            take($0, write)
        }
    }

    /// Writes all remaining entries.
    func finish(_ write: (ManifestUpdate.Entry) -> Void) throws {
        try pipeline.finish { take($0, write) }
    }

    private func take(_ value: Worker.Value, _ write: (ManifestUpdate.Entry) -> Void) {
        if let reason = value.reason { without.append((value.entry.file.path, reason)) }
        write(value.entry)
    }

    /// A note about the files that stay without a digest; nil if there are none.
    var note: String? {
        guard let (path, reason) = without.first else { return nil }
        let others = without.count > 1 ? ", and of \(without.count - 1) more" : ""
        return "no digest was recorded of \(path): \(reason)\(others)"
    }

    private struct Worker: FileWorker {
        let source: any DigestSource
        let target: DigestReader
        let scanned: FileTime

        private static let holes =
            "its holes have more than 16 GiB; --digest=all takes the time to hash them"

        /// Where the object of an entry without its digest is.
        static func location(_ entry: ManifestUpdate.Entry) -> RelativePath? {
            entry.file.isFile && entry.file.digest == nil ? entry.location : nil
        }

        func announce(_ entries: [ManifestUpdate.Entry]) {
            target.announce(entries.lazy.compactMap(Worker.location))
            source.announce(entries.filter { Worker.location($0) != nil }.map(\.file.path))
        }

        /// - Returns: the entry, with its digest, or why it has none.
        func value(of entry: ManifestUpdate.Entry) throws -> (entry: ManifestUpdate.Entry, reason: String?) {
            guard let location = Worker.location(entry) else {
                // A new file got its digest when it was copied.
                let lacksDigest = entry.file.isFile && entry.file.digest == nil
                return (entry, lacksDigest && !entry.marks.contains(.uncovered) ? Worker.holes : nil)
            }
            do {
                guard let (digest, status, _) = try target.digest(of: location),
                    // 0 where the file system has no inodes that last.
                    [0, status.inode].contains(entry.targetInode),
                    status.changed < scanned
                else { return (entry, "it is being changed in the target") }
                // A file only in the target, when nothing is deleted, has no counterpart to disagree with.
                if let own = try source.digest(of: entry.file.path), own.digest != digest {
                    return (entry, "it differs from the source's; --checksum finds and repairs that")
                }
                var entry = entry
                entry.file.digest = digest
                return (entry, nil)
            } catch let error as SystemError where error.errno == .overflow {
                return (entry, Worker.holes)
            } catch let error as SystemError {
                return (entry, "\(error.errno)")
            }
        }
    }
}
