import FileSystem

/// Reads what was staged once more, after the barrier, and compares it with the digests that were taken while it was
/// copied.
///
/// Cached pages are dropped first, so what is read comes from the device, or from a cache of its own; on a file
/// system in memory it proves only that memory. What goes bad later `manifest verify` finds.
struct CopyVerification {
    private let stage: DigestReader
    private let slots: [RelativePath: Int]

    init(_ stage: Directory, slots: [RelativePath: Int], monitor: any Monitor) {
        self.stage = DigestReader(stage, monitor: monitor, bypassesCache: true)
        self.slots = slots
    }

    /// - Throws: `SyncError` for the first file that is not what was written.
    func run(_ staged: [(path: RelativePath, outcome: Stage.Outcome)]) throws {
        // The new directories on the way to the present path, and where they are staged.
        var open: [(path: RelativePath, place: RelativePath)] = []
        for (path, outcome) in staged {
            while let last = open.last, !path.isBelow(last.path) { open.removeLast() }
            guard case .staged(let file, _) = outcome, let place = place(of: path, in: open.last?.place)
            else {
                continue
            }
            if file.isDirectory { open.append((path, place)) }
            guard let digest = file.digest else { continue }
            guard try stage.digest(of: place)?.digest == digest else {
                throw SyncError(
                    .failed, path: path.bytes,
                    "its copy reads back otherwise than it was written: check memory and disk")
            }
        }
    }

    private func place(of path: RelativePath, in directory: RelativePath?) -> RelativePath? {
        guard let number = slots[path] else { return path.fileName.flatMap { directory?.appending($0) } }
        let (slots, name) = number.quotientAndRemainder(dividingBy: Layout.slotsPerDirectory)
        return RelativePath.root.appending(FileName(number: slots)).appending(FileName(number: name))
    }
}
