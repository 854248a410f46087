import FileStorage
import FileSystem

extension Stage {
    /// Reads the staged files again after the barrier, and compares them with the digests from the copy.
    ///
    /// Cached pages are dropped first, so the data is from the device or the device's cache. On a file system in
    /// memory, only that memory is tested. `manifest verify` finds later damage.
    ///
    /// - Throws: `SyncError` for the first file that differs.
    func reread() throws {
        let (directory, monitor) = (directory, monitor)
        let copies = FilePipeline(threads: options.copyThreads) {
            FileDigests(reader: DigestReader(PathResolver(directory), monitor: monitor, bypassesCache: true))
        }
        defer { copies.close() }
        func check(_ copy: FileDigests.Answer) throws {
            guard try copy.found?.get()?.digest == copy.file.digest else {
                throw SyncError(
                    .failed, path: copy.file.path.bytes,
                    "its copy has other content than was written. Check memory and disk")
            }
        }
        for index in staged.indices {
            guard case .staged(let file, _)? = staged.outcome(at: index), file.digest != nil else { continue }
            try copies.add((file, staged.location(at: index)), bytes: file.size, check)
        }
        try copies.finish(check)
    }

    /// Checks that the staged content is the content that the plan saw in the source.
    ///
    /// RACE: a file may be written to between planning and copying. The copy is complete, but has content that the plan
    /// has not seen.
    func checkAgreesWithPlan() throws {
        for (index, entry) in staged.enumerated() where entry.file.isFile {
            let path = entry.file.path.bytes
            switch staged.outcome(at: index) {
            case .staged(let file, _)? where file.status.changed == entry.file.status.changed: continue
            case .failed(let problem)?: throw SyncError(.failed, path: path, problem.message)
            case .staged, .vanished, nil:
                throw SyncError(.stale, path: path, "it changed in the source since the plan")
            }
        }
    }
}
