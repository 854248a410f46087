import FileSystem

/// The SHA-256 of a file's content as it passes, from its beginning, which both ends compute.
struct ContentHash {
    /// Holes are hashed as zeros; otherwise the pieces are, with their offsets.
    let countsHoles: Bool
    /// Where the bytes so far end.
    private(set) var position: Int64 = 0
    /// Of the holes that were admitted.
    private var zeros: Int64 = 0
    private var hash = SHA256()

    /// Holes of one file are hashed as zeros up to this size: a second's work, whatever size a file says it has.
    static let mostZeros: Int64 = 1 << 30

    /// The other end would have more than that hashed.
    struct TooManyZeros: Error {}

    init(countsHoles: Bool) {
        self.countsHoles = countsHoles
    }

    /// Before the other end's word makes a hole up to an offset.
    mutating func admitHole(upTo offset: Int64) throws(TooManyZeros) {
        guard countsHoles else { return }
        guard offset - position <= ContentHash.mostZeros - zeros else { throw TooManyZeros() }
        zeros += offset - position
    }

    mutating func add(_ data: ArraySlice<UInt8>, at offset: Int64, _ isCancelled: () -> Bool) {
        if countsHoles {
            hash.update(zeros: offset - position, isCancelled)
        } else {
            hash.update(number: offset)
            hash.update(number: Int64(data.count))
        }
        data.withUnsafeBytes { hash.update($0) }
        position = offset + Int64(data.count)
    }

    /// Of a file of this size, which ends with a hole if it is more than came.
    func digest(upTo size: Int64, _ isCancelled: () -> Bool) -> Digest {
        var hash = hash
        if countsHoles { hash.update(zeros: size - position, isCancelled) }
        return Digest(hash.finish())
    }
}

extension SHA256 {
    private static let zeros = [UInt8](repeating: 0, count: 64 * 1024)

    fileprivate mutating func update(zeros count: Int64, _ isCancelled: () -> Bool) {
        var rest = count
        while rest > 0, !isCancelled() {
            let piece = min(rest, Int64(SHA256.zeros.count))
            SHA256.zeros.withUnsafeBytes { update(UnsafeRawBufferPointer(rebasing: $0[..<Int(piece)])) }
            rest -= piece
        }
    }

    fileprivate mutating func update(number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { update($0) }
    }
}
