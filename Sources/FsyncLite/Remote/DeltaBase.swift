import FileSystem

/// The older content of a file, from which a staged one is made.
struct DeltaBase: ~Copyable {
    /// The best first, with their sizes. Without any, everything differs.
    private var older: [(file: AnnouncedFile, size: Int64)] = []
    private let files: [AnnouncedFile]
    private let seed: UInt64
    /// The staged file began as a clone of the first; otherwise blocks are written as they are compared.
    private var isClone = false

    init(_ files: [AnnouncedFile], seed: UInt64) {
        (self.files, self.seed) = (files, seed)
    }

    /// An attempt begins.
    ///
    /// - Parameter staged: empty.
    mutating func begin(_ staged: borrowing FileDescriptor, keepsHoles: Bool) throws(Errno) {
        (older, isClone) = ([], false)
        for file in files {
            let status = try file.descriptor.status()
            if older.isEmpty, keepsHoles || status.allocated >= status.size {
                do throws(Errno) {
                    try FileCopier.clone(file.descriptor, to: staged)
                    isClone = true
                } catch {
                    // The file system shares no blocks.
                }
            }
            older.append((file, status.size.rawCount))
        }
    }

    /// Compares blocks with the older content, which the staged file has there from now on.
    ///
    /// - Parameter position: where the blocks before these end.
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

    /// What a clone has there is gone.
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
            // What cannot be read differs.
            return []
        }
    }
}
