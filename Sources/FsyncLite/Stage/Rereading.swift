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
        for (outcome, place) in zip(outcomes, places) {
            guard case .staged(let file, _)? = outcome, let digest = file.digest else { continue }
            guard try copies.digest(of: place)?.digest == digest else {
                throw SyncError(
                    .failed, path: file.path.bytes,
                    "its copy reads back otherwise than it was written: check memory and disk")
            }
        }
    }
}
