import FileStorage
import FileSystem

extension Stage {
    /// Reads what was staged once more, after the barrier, and compares it with the digests that were taken while it
    /// was copied.
    ///
    /// Cached pages are dropped first, so what is read comes from the device, or from a cache of its own; on a file
    /// system in memory it proves only that memory. What goes bad later `manifest verify` finds.
    ///
    /// - Throws: `SyncError` for the first file that is not what was written.
    func reread() throws {
        let copies = DigestReader(directory, monitor: monitor, bypassesCache: true)
        for (outcome, location) in zip(outcomes, locations) {
            guard case .staged(let file, _)? = outcome, let digest = file.digest else { continue }
            guard try copies.digest(of: location)?.digest == digest else {
                throw SyncError(
                    .failed, path: file.path.bytes,
                    "its copy reads back otherwise than it was written: check memory and disk")
            }
        }
    }

    /// What is staged is what the plan saw in the source.
    ///
    /// RACE: a file was written to after it was planned and before it was copied. The copy is whole, and of content that
    /// the plan has not seen.
    func checkAgreesWithPlan() throws {
        for (entry, outcome) in zip(graph.stagedEntries, outcomes) where entry.file.isFile {
            let path = entry.file.path.bytes
            switch outcome {
            case .staged(let file, _)? where file.status.changed == entry.file.status.changed: continue
            case .failed(let problem)?: throw SyncError(.failed, path: path, problem.message)
            case .staged, .vanished, nil:
                throw SyncError(.stale, path: path, "it changed in the source since the plan")
            }
        }
    }
}
