import FileSystem

/// The older content of a file, from which the staged file is made.
struct DeltaBase: ~Copyable {
    /// The older files with their sizes, the best first. If there are none, every block differs.
    private var older: [(file: AnnouncedFile, size: Int64)] = []
    private let files: [AnnouncedFile]
    private let seed: UInt64
    /// The staged file began as a clone of the first one. Otherwise each compared block is written.
    private var isClone = false

    init(_ files: [AnnouncedFile], seed: UInt64) {
        (self.files, self.seed) = (files, seed)
    }

    /// Begins an attempt.
    ///
    /// - Parameter staged: an empty file.
    mutating func begin(_ staged: borrowing FileDescriptor, keepsHoles: Bool) throws(Errno) {
        (older, isClone) = ([], false)
        for file in files {
            let status = try file.descriptor.status()
            if older.isEmpty, keepsHoles || status.allocated >= status.size {
                do throws(Errno) {
                    try FileCopier.clone(file.descriptor, to: staged)
                    isClone = true
                } catch {
                    // The file system cannot share blocks.
                }
            }
            older.append((file, status.size.rawCount))
        }
    }

    /// Compares blocks with the older content. After that, the staged file has the old blocks.
    ///
    /// - Parameter position: the end of the blocks before these.
    func compare(
        _ blocks: BlockHashes, after position: Int64, in staged: borrowing FileDescriptor,
        to answer: inout FrameWriter
    ) throws(Errno) {
        var (position, differing) = (position, DifferingBlocks())
        for (range, hash) in zip(blocks.ranges, blocks.hashes) {
            try makeHole(position..<range.lowerBound, in: staged)
            position = range.upperBound
            let old = isClone ? DeltaBase.read(range, of: staged) : read(range)
            let isEqual = old.count == range.count && BlockHashes.hash(old[...], seed) == hash
            let hashes =
                isEqual
                ? nil
                : BlockHashes.pieces(of: range).map { piece in
                    let (start, end) = (
                        piece.lowerBound - range.lowerBound, piece.upperBound - range.lowerBound
                    )
                    return BlockHashes.hash(old[(Int(start)..<Int(end)).clamped(to: old.indices)], seed)
                }
            differing.add(hashes, to: &answer)
            if !isClone { try staged.write(old[...], at: range.lowerBound) }
        }
    }

    /// Removes the old data of a clone from a range.
    func makeHole(_ range: Range<Int64>, in staged: borrowing FileDescriptor) throws(Errno) {
        guard isClone, !range.isEmpty else { return }
        try staged.makeHole(range)
    }

    private func read(_ range: Range<Int64>) -> [UInt8] {
        guard let best = older.first(where: { $0.size >= range.upperBound }) ?? older.last else { return [] }
        return DeltaBase.read(range, of: best.file.descriptor)
    }

    private static func read(_ range: Range<Int64>, of file: borrowing FileDescriptor) -> [UInt8] {
        do throws(Errno) {
            return try file.bytes(in: range)
        } catch {
            // A block that cannot be read is treated as different.
            return []
        }
    }
}
