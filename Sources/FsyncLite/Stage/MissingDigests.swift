import FileSystem

/// Computes missing digests of unchanged files, several at a time. Source and target must agree. Otherwise a damaged
/// copy would become the reference for the other one.
final class MissingDigests {
    private let pipeline: FilePipeline<Worker>
    private var without: [(path: RelativePath, reason: String)] = []

    /// - Parameters:
    ///   - scanned: the start of the scan. Changes in the target since then were not compared.
    ///   - mostHoles: a file with more bytes of holes gets no digest.
    init(
        source: any ContentSource, target: Directory, scanned: FileTime, mostHoles: Int64, threads: Int,
        monitor: any Monitor
    ) {
        pipeline = FilePipeline(threads: threads, filesPerItem: 2) {
            Worker(
                source: source.digests(monitor),
                target: DigestReader(PathResolver(target), monitor: monitor, mostHoles: mostHoles),
                scanned: scanned)
        }
    }

    /// Adds an entry of the new manifest. Writes the entries before it whose digests are ready, in order.
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

    /// A note about the files that have no digest in the end; nil if there are none.
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

        /// The place of an entry's object that has no digest.
        static func location(_ entry: ManifestUpdate.Entry) -> RelativePath? {
            entry.file.isFile && entry.file.digest == nil ? entry.location : nil
        }

        func announce(_ entries: [ManifestUpdate.Entry]) {
            target.announce(entries.lazy.compactMap(Worker.location))
            source.announce(entries.filter { Worker.location($0) != nil }.map(\.file.path))
        }

        /// - Returns: the entry with its digest, or the reason why it has none.
        func value(of entry: ManifestUpdate.Entry) throws -> (entry: ManifestUpdate.Entry, reason: String?) {
            guard let location = Worker.location(entry) else {
                // A new file got its digest when it was copied.
                let lacksDigest = entry.file.isFile && entry.file.digest == nil
                return (entry, lacksDigest && !entry.marks.contains(.uncovered) ? Worker.holes : nil)
            }
            do {
                guard let (digest, status, _) = try target.digest(of: location),
                    // 0 if the inodes of the file system do not last.
                    [0, status.inode].contains(entry.targetInode),
                    status.changed < scanned
                else { return (entry, "it is being changed in the target") }
                // If nothing is deleted, a file may be only in the target. Then no source file can differ.
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
