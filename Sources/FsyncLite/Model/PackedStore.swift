import FileSystem

/// Records as bytes, each with a path, in chunks that are never moved. A path is stored as a part of an earlier path of
/// its chunk, usually the directory, and the rest.
package struct PackedStore: Sendable {
    /// The offset of a record, in units of four bytes.
    typealias Record = UInt32

    private static let chunkSize = 1 << 17
    /// The header of the array and malloc's own bytes fit in the last page of a chunk.
    private static let capacity = chunkSize - 64
    /// A chunk with less free space gets no further record.
    private static let leastSpace = 512
    private static let alignment = 4

    private struct Contents {
        var chunks: [[UInt8]] = []
        var anchors = [Anchor](repeating: Anchor(), count: 2)

        /// The times of the first status, and of the first one that is like another. Other times are usually near them.
        var times: PackedTimes?
        var alikeTimes: PackedTimes?
        var kinds: [PackedKind] = []
        var kindNumbers: [PackedKind: Int] = [:]
        var attributes: [ExtendedAttributes] = []
        var statuses: [FileStatus] = []
    }

    /// Boxed, because a list is copied far more often than it is changed.
    @Boxed private var contents = Contents()

    /// The record that is being packed, and its position in all chunks.
    private var record: [UInt8] = []
    private var start = 0

    var times: PackedTimes? {
        get { contents.times }
        set { contents.times = newValue }
    }

    var alikeTimes: PackedTimes? {
        get { contents.alikeTimes }
        set { contents.alikeTimes = newValue }
    }

    /// A path that is stored as a whole in its record.
    private struct Anchor {
        var path: [UInt8] = []
        var position = -1
    }

    /// The two paths of a record: its own, and the other path of its object. Each is like that of its neighbours.
    private enum PathKind: Int {
        case own, other
    }

    /// A position in a record.
    package struct Cursor {
        fileprivate let bytes: UnsafeRawBufferPointer
        fileprivate let base: Int
        fileprivate var offset: Int

        mutating func byte() -> UInt8 {
            defer { offset += 1 }
            return bytes[offset]
        }

        mutating func number() -> UInt64 {
            var (value, shift): (UInt64, UInt64) = (0, 0)
            while true {
                let byte = byte()
                value |= UInt64(byte & 0x7f) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
        }

        mutating func integer() -> Int { Int(truncatingIfNeeded: number()) }

        /// A number that may be negative.
        mutating func signed() -> Int64 {
            let value = number()
            return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
        }

        mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer {
            defer { offset += count }
            return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
        }

        mutating func word() -> UInt64 { bytes(8).loadUnaligned(as: UInt64.self) }
    }

    // MARK: Records

    /// - Parameters:
    ///   - other: the other path of the object.
    ///   - pack: adds the content of the record, without its paths. It may be called twice.
    mutating func append(
        at path: RelativePath, _ other: RelativePath?, _ pack: (inout PackedStore) -> Void
    ) -> Record {
        if contents.chunks.isEmpty || space < PackedStore.leastSpace { beginChunk() }
        let before = contents.anchors
        make(at: path, other, pack)
        if record.count > space, contents.chunks[contents.chunks.count - 1].count > 0 {
            // The paths of this record are not in the store yet.
            contents.anchors = before
            beginChunk()
            make(at: path, other, pack)
        }
        let last = contents.chunks.count - 1
        contents.chunks[last].append(contentsOf: record)
        while contents.chunks[last].count % PackedStore.alignment != 0 { contents.chunks[last].append(0) }
        return Record(start / PackedStore.alignment)
    }

    private var space: Int { PackedStore.capacity - (contents.chunks.last?.count ?? 0) }

    private mutating func beginChunk() {
        // A small list must not need a large chunk.
        var chunk: [UInt8] = []
        if !contents.chunks.isEmpty { chunk.reserveCapacity(PackedStore.capacity) }
        contents.chunks.append(chunk)
        // No path depends on another chunk, so that each chunk can be freed alone.
        for kind in contents.anchors.indices { contents.anchors[kind].position = -1 }
    }

    static func chunk(of record: Record) -> Int { Int(record) * alignment / chunkSize }

    /// The number of these records in each chunk.
    func counts(of records: some Sequence<Record>) -> [Int] {
        var counts = [Int](repeating: 0, count: contents.chunks.count)
        for record in records { counts[PackedStore.chunk(of: record)] += 1 }
        return counts
    }

    /// Frees a chunk, unless another list shares it.
    mutating func free(_ chunk: Int) { contents.chunks[chunk] = [] }

    private mutating func make(
        at path: RelativePath, _ other: RelativePath?, _ pack: (inout PackedStore) -> Void
    ) {
        let last = contents.chunks.count - 1
        start = last * PackedStore.chunkSize + contents.chunks[last].count
        record.removeAll(keepingCapacity: true)
        put(path, .own)
        put(byte: other == nil ? 0 : 1)
        if let other { put(other, .other) }
        let head = record.count
        record.append(0)
        record.append(0)
        pack(&self)
        let length = UInt16(clamping: record.count - head - 2)
        record[head] = UInt8(truncatingIfNeeded: length)
        record[head + 1] = UInt8(truncatingIfNeeded: length >> 8)
    }

    /// Replaces the content of a record, but not its paths. Returns false if there is too little space.
    mutating func replace(_ old: Record, _ pack: (inout PackedStore) -> Void) -> Bool {
        let chunk = PackedStore.chunk(of: old)
        let (begin, length) = read(old) { cursor, length in (cursor.offset, length) }
        guard length < UInt16.max else { return false }
        record.removeAll(keepingCapacity: true)
        pack(&self)
        guard record.count <= length else { return false }
        contents.chunks[chunk].replaceSubrange(begin..<begin + record.count, with: record)
        return true
    }

    /// Calls `body` with a cursor at the beginning of a record.
    private func withCursor<Value>(at record: Record, _ body: (inout Cursor) -> Value) -> Value {
        let position = Int(record) * PackedStore.alignment
        return contents.chunks[position / PackedStore.chunkSize].withUnsafeBytes { bytes in
            let offset = position % PackedStore.chunkSize
            var cursor = Cursor(bytes: bytes, base: position - offset, offset: offset)
            return body(&cursor)
        }
    }

    /// Calls `body` with the content of a record, without its paths, and its length in bytes.
    private func read<Value>(_ record: Record, _ body: (inout Cursor, Int) -> Value) -> Value {
        withCursor(at: record) { cursor in
            skipPath(&cursor)
            if cursor.byte() != 0 { skipPath(&cursor) }
            let low = Int(cursor.byte())
            let length = low | Int(cursor.byte()) << 8
            return body(&cursor, length)
        }
    }

    /// Calls `body` with the content of a record, without its paths.
    func read<Value>(_ record: Record, _ body: (inout Cursor) -> Value) -> Value {
        read(record) { cursor, _ in body(&cursor) }
    }

    func path(_ record: Record) -> RelativePath { withCursor(at: record) { path(&$0) } }

    /// The second path of a record.
    func otherPath(_ record: Record) -> RelativePath? {
        withCursor(at: record) { cursor in
            skipPath(&cursor)
            return cursor.byte() == 0 ? nil : path(&cursor)
        }
    }

    /// Negative, zero or positive if the path of a record is before, at or after another one.
    func order(_ record: Record, comparedTo other: RelativePath) -> Int {
        withPath(record) { path in
            other.bytes.withUnsafeBytes { RelativePath.order(path, $0) }
        }
    }

    func order(_ record: Record, comparedTo other: Record) -> Int {
        withPath(record) { path in
            withPath(other) { RelativePath.order(path, $0) }
        }
    }

    // MARK: Packing

    mutating func put(byte: UInt8) { record.append(byte) }

    mutating func put(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            record.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        record.append(UInt8(rest))
    }

    mutating func put(_ number: Int) { put(UInt64(number)) }

    mutating func put(signed value: Int64) { put(UInt64(bitPattern: value << 1 ^ value >> 63)) }

    mutating func put(word: UInt64) { withUnsafeBytes(of: word) { record.append(contentsOf: $0) } }

    mutating func put(_ bytes: [UInt8]) {
        put(bytes.count)
        record.append(contentsOf: bytes)
    }

    private mutating func put(_ path: RelativePath, _ kind: PathKind) {
        let (position, bytes, anchor) = (start + record.count, path.bytes, contents.anchors[kind.rawValue])
        if anchor.position >= 0 {
            let directory = path.isRoot ? 0 : bytes.count - path.lastComponent.count
            let shared = anchor.path.withUnsafeBytes { left in
                bytes.withUnsafeBytes { firstDifference(left, $0, min(left.count, $0.count)) }
            }
            // A long path also uses a part of the anchor in another directory, if it is little longer than that part.
            if shared >= directory || shared >= 512 && (bytes.count - shared) * 8 <= shared {
                put(position - anchor.position)
                put(shared)
                put(bytes.count - shared)
                record.append(contentsOf: bytes[shared...])
                return
            }
        }
        put(byte: 0)
        put(bytes)
        // Only a record inside an ordinary chunk can be the anchor of the next path.
        let isReachable = record.count < PackedStore.chunkSize
        if isReachable { contents.anchors[kind.rawValue] = Anchor(path: bytes, position: position) }
    }

    mutating func put(_ kind: PackedKind) {
        if let last = contents.kinds.indices.last, contents.kinds[last] == kind { return put(last) }
        if let number = contents.kindNumbers[kind] { return put(number) }
        contents.kindNumbers[kind] = contents.kinds.count
        put(contents.kinds.count)
        contents.kinds.append(kind)
    }

    mutating func put(_ extended: ExtendedAttributes) {
        if contents.attributes.last != extended { contents.attributes.append(extended) }
        put(contents.attributes.count - 1)
    }

    /// Adds a status that has no packed form.
    mutating func put(whole status: FileStatus) {
        put(contents.statuses.count)
        contents.statuses.append(status)
    }

    // MARK: Unpacking

    private func path(_ cursor: inout Cursor) -> RelativePath {
        let position = cursor.base + cursor.offset
        let back = cursor.integer()
        guard back > 0 else {
            return RelativePath(validated: Array(cursor.bytes(cursor.integer())))
        }
        let (shared, count) = (cursor.integer(), cursor.integer())
        let rest = cursor.bytes(count)
        return withAnchor(position - back) { anchor in
            // For an uninitialized array, Swift looks its type up each time, which takes longer than copying the bytes.
            var bytes: [UInt8] = []
            bytes.reserveCapacity(shared + count)
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: anchor.prefix(shared)))
            bytes.append(contentsOf: rest)
            return RelativePath(validated: bytes)
        }
    }

    private func withPath<Value>(_ record: Record, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        withCursor(at: record) { cursor in
            let position = cursor.base + cursor.offset
            let back = cursor.integer()
            guard back > 0 else { return body(cursor.bytes(cursor.integer())) }
            let (shared, count) = (cursor.integer(), cursor.integer())
            let rest = cursor.bytes(count)
            return withUnsafeTemporaryAllocation(byteCount: shared + count, alignment: 1) { joined in
                withAnchor(position - back) { anchor in
                    joined.copyMemory(from: UnsafeRawBufferPointer(rebasing: anchor.prefix(shared)))
                }
                UnsafeMutableRawBufferPointer(rebasing: joined[shared...]).copyMemory(from: rest)
                return body(UnsafeRawBufferPointer(joined))
            }
        }
    }

    private func withAnchor<Value>(_ position: Int, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        contents.chunks[position / PackedStore.chunkSize].withUnsafeBytes { bytes in
            // The number before it shows that the path is whole.
            var cursor = Cursor(bytes: bytes, base: 0, offset: position % PackedStore.chunkSize + 1)
            return body(cursor.bytes(cursor.integer()))
        }
    }

    private func skipPath(_ cursor: inout Cursor) {
        if cursor.number() > 0 { _ = cursor.number() }
        _ = cursor.bytes(cursor.integer())
    }

    func kind(_ cursor: inout Cursor) -> PackedKind { contents.kinds[cursor.integer()] }
    func extended(_ cursor: inout Cursor) -> ExtendedAttributes { contents.attributes[cursor.integer()] }
    func wholeStatus(_ cursor: inout Cursor) -> FileStatus { contents.statuses[cursor.integer()] }
}
