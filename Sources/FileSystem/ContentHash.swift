/// The SHA-256 of a file's content, computed piece by piece from the beginning.
public struct ContentHash: Sendable {
    public enum Form: Sendable {
        /// The hash of all bytes, as `sha256sum` computes it. Holes are hashed as zeros.
        case plain
        /// The hash of the bytes and of their places, without the zeros at the end of each block. A hole costs nothing,
        /// and zeros are treated as a hole. So the layout of the file on disk does not matter.
        case sparse
    }

    /// The most bytes of holes in a file that gets a plain digest; hashing them takes 7 seconds. A file with more gets
    /// one only if all plain digests are asked for.
    public static let mostHoles: Int64 = 16 << 30

    public let form: Form
    /// The end of the bytes so far.
    public private(set) var position: Int64 = 0
    private var hash = SHA256()
    /// Hashes the beginning and end of each hashed stretch. `end` is that of the last one.
    private var layout = SHA256()
    private var end: Int64 = 0
    /// A block that is not complete yet.
    private var part: [UInt8] = []
    private var partStart: Int64 = 0

    private static let blockSize = 4096

    public init(_ form: Form) {
        self.form = form
    }

    /// - Parameter isCancelled: once it returns true, the value has no meaning.
    public mutating func add(
        _ data: UnsafeRawBufferPointer, at offset: Int64, _ isCancelled: () -> Bool
    ) {
        defer { position = offset + Int64(data.count) }
        guard form == .sparse else {
            hash.update(zeros: offset - position, isCancelled)
            return hash.update(data)
        }
        var (rest, start) = (data[...], offset)
        while !rest.isEmpty {
            let before = Int(start % Int64(ContentHash.blockSize))
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(ContentHash.blockSize - before))
            if partStart != start - Int64(before) || piece.count == ContentHash.blockSize { endPart() }
            if piece.count == ContentHash.blockSize {
                take(piece, at: start)
            } else {
                partStart = start - Int64(before)
                part.append(contentsOf: repeatElement(0, count: before - part.count))
                part.append(contentsOf: piece)
            }
            rest = rest.dropFirst(piece.count)
            start += Int64(piece.count)
        }
    }

    private mutating func endPart() {
        let part = part
        self.part.removeAll(keepingCapacity: true)
        part.withUnsafeBytes { take($0, at: partStart) }
    }

    /// Adds a block, or its first part.
    private mutating func take(_ block: UnsafeRawBufferPointer, at offset: Int64) {
        var count = block.count
        while count >= 8, block.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self) == 0 { count -= 8 }
        while count > 0, block[count - 1] == 0 { count -= 1 }
        guard count > 0 else { return }
        if offset != end {
            layout.update(number: end)
            layout.update(number: offset)
        }
        hash.update(UnsafeRawBufferPointer(rebasing: block[..<count]))
        end = offset + Int64(count)
    }

    /// The hash of a file of this size. If more bytes are missing up to `size`, they are a hole.
    public func value(upTo size: Int64, _ isCancelled: () -> Bool) -> SHA256.Value {
        var copy = self
        if form == .plain {
            copy.hash.update(zeros: size - position, isCancelled)
        } else {
            copy.endPart()
            copy.layout.update(number: copy.end)
            copy.layout.update(number: size)
            let value = copy.layout.finish()
            for word in [value.first, value.second, value.third, value.fourth] {
                copy.hash.update(number: Int64(bitPattern: word))
            }
        }
        return copy.hash.finish()
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

extension FileDescriptor {
    /// The bytes of the file that are in holes.
    public func holes(upTo size: Int64) throws(Errno) -> Int64 {
        var (holes, offset): (Int64, Int64) = (0, 0)
        while let data = try data(after: offset, upTo: size) {
            holes += data.lowerBound - offset
            offset = data.upperBound
        }
        return holes + size - offset
    }

    /// The digest of the file's content. Holes are not read.
    ///
    /// - Parameters:
    ///   - limit: the number of bytes to read from the start.
    ///   - mostHoles: throws `overflow` for a file that has more bytes of holes.
    ///   - isCancelled: asked between reads; true ends the call with `cancelled`.
    public func digest(
        as form: ContentHash.Form = .plain, upTo limit: Int64 = .max, mostHoles: Int64 = .max,
        isCancelled: () -> Bool = { false }
    ) throws(Errno) -> SHA256.Value {
        let status = try status()
        let hasHoles = status.allocated < status.size
        let end = hasHoles ? min(status.size.rawCount, limit) : limit
        if hasHoles, end > mostHoles, try holes(upTo: end) > mostHoles { throw .overflow }
        let space = Int(clamping: min(max(status.size.rawCount, 1), 256 * 1024))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: space, alignment: 64)
        defer { buffer.deallocate() }
        var hash = ContentHash(form)
        var data = 0..<(hasHoles ? 0 : end)
        while true {
            if isCancelled() { throw .cancelled }
            if data.isEmpty, hasHoles { data = try self.data(after: data.upperBound, upTo: end) ?? end..<end }
            let count = try read(
                into: .init(rebasing: buffer[..<min(data.count, space)]), at: data.lowerBound)
            if count == 0 { break }
            hash.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: data.lowerBound, isCancelled)
            data = data.lowerBound + Int64(count)..<data.upperBound
        }
        // If the file ended too early, somebody made it shorter.
        let value = hash.value(upTo: hasHoles && data.isEmpty ? end : hash.position, isCancelled)
        if isCancelled() { throw .cancelled }
        return value
    }
}
