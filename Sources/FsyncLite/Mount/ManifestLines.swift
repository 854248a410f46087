import FileStorage
import FileSystem

/// The entries of an open manifest, each found by its row, its path or the number of its object. Memory holds the
/// path of each 64th entry, and eight to twelve bytes for each entry.
///
/// A run replaces the manifest by another file, so these lines never change.
final class ManifestLines: Sendable {
    /// The number of entries that are read at once.
    static let stride = 64

    let path: [UInt8]
    private let file: AnnouncedFile
    /// Where each block of entries begins, and the end of the last one.
    private let offsets: [Int64]
    /// The first path of each block.
    private let keys: [RelativePath]
    /// The numbers of the objects in order, and the row of each; no rows if these are in order, too.
    private let objects: [UInt64]
    private let rows: [UInt32]

    var count: Int { objects.count }

    /// - Parameter file: has a line for each entry, and numbers.
    init(_ file: AnnouncedFile, path: [UInt8]) throws {
        var index = LineIndex(path)
        try index.read(file.descriptor)
        (self.path, self.file, offsets, keys) = (path, file, index.offsets, index.keys)
        let numbers = index.objects
        let isSorted = numbers.indices.dropFirst().allSatisfy { numbers[$0 - 1] <= numbers[$0] }
        rows =
            isSorted ? [] : numbers.indices.map { UInt32($0) }.sorted { numbers[Int($0)] < numbers[Int($1)] }
        objects = isSorted ? numbers : rows.map { numbers[Int($0)] }
    }

    /// The rows of an object: one for each of its names.
    func rows(of object: UInt64) -> [Int] {
        let first = objects.partitionPoint(where: { $0 < object })
        return objects[first...].prefix { $0 == object }.indices.map { rows.isEmpty ? $0 : Int(rows[$0]) }
    }

    /// The bytes of a block.
    fileprivate func block(_ number: Int) throws(SystemError) -> [UInt8] {
        try calling("pread", path) { () throws(Errno) in
            try file.descriptor.bytes(in: offsets[number]..<offsets[number + 1])
        }
    }

    /// The number of the block that has a path, or where it would be.
    fileprivate func block(of path: RelativePath) -> Int {
        max(keys.partitionPoint(where: { $0 <= path }) - 1, 0)
    }
}

/// Reads the lines of a manifest once.
private struct LineIndex {
    let path: [UInt8]
    var offsets: [Int64] = []
    var keys: [RelativePath] = []
    var objects: [UInt64] = []
    private var record = EntryRecord()
    private var isAmongEntries = false
    private var isDone = false

    init(_ path: [UInt8]) { self.path = path }

    private static let chunk = 1 << 20

    mutating func read(_ file: borrowing FileDescriptor) throws {
        var buffer: [UInt8] = []
        var start: Int64 = 0
        while !isDone {
            let offset = start + Int64(buffer.count)
            let size = max(LineIndex.chunk, buffer.count)
            let more = try calling("pread", path) { () throws(Errno) in
                try file.bytes(in: offset..<offset + Int64(size))
            }
            guard !more.isEmpty else { throw damage(line: objects.count, "it ends early") }
            buffer += more
            let consumed = try buffer.withUnsafeBufferPointer { try take($0, at: start) }
            start += Int64(consumed)
            buffer.removeFirst(consumed)
        }
    }

    /// - Returns: the number of bytes of whole lines.
    private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int64) throws -> Int {
        guard let base = bytes.baseAddress else { return 0 }
        var next = 0
        while !isDone, let end = firstByte(UInt8(ascii: "\n"), base + next, bytes.count - next) {
            let line = UnsafeBufferPointer(rebasing: bytes[next..<(end - UnsafeRawPointer(base))])
            try take(line: line, at: start + Int64(next))
            next += line.count + 1
        }
        return next
    }

    private mutating func take(line: UnsafeBufferPointer<UInt8>, at offset: Int64) throws {
        guard isAmongEntries else {
            isDone = line.starts(with: "\"entries\":[]".utf8)
            isAmongEntries = line.starts(with: "\"entries\":[".utf8)
            if isDone { offsets = [offset] }
            return
        }
        guard line.first == UInt8(ascii: "{") else {
            offsets.append(offset)
            isDone = true
            return
        }
        if objects.count % ManifestLines.stride == 0 {
            offsets.append(offset)
            try record.read(line, path)
            keys.append(RelativePath(validated: record.path))
        }
        guard let object = LineIndex.object(line) else {
            throw damage(line: objects.count, "the object number is missing")
        }
        objects.append(object)
    }

    private func damage(line: Int, _ message: String) -> SyncError {
        SyncError(.invalidDocument, path: path, "entry \(line + 1): \(message)")
    }

    /// The number in a line, which is near its end. Within a string, the quotes would have backslashes before them.
    private static func object(_ line: UnsafeBufferPointer<UInt8>) -> UInt64? {
        guard let base = line.baseAddress.map({ UnsafeRawPointer($0) }) else { return nil }
        let key: StaticString = "\"object\":"
        let word = UnsafeRawPointer(key.utf8Start).loadUnaligned(as: UInt64.self)
        var index = line.count - 10
        while index >= 0,
            base.loadUnaligned(fromByteOffset: index, as: UInt64.self) != word
                || line[index + 8] != key.utf8Start[8]
        {
            index -= 1
        }
        guard index >= 0 else { return nil }
        var (number, next) = (0 as UInt64, index + 9)
        while next < line.count, line[next] &- UInt8(ascii: "0") < 10, number < 1 << 59 {
            number = number * 10 + UInt64(line[next] &- UInt8(ascii: "0"))
            next += 1
        }
        return number
    }
}

extension EntryRecord {
    /// Reads a line of a manifest, with the comma at its end or without.
    mutating func read(_ line: UnsafeBufferPointer<UInt8>, _ path: [UInt8]) throws {
        let isFollowed = line.last == UInt8(ascii: ",")
        let own = UnsafeBufferPointer(rebasing: line[..<(line.count - (isFollowed ? 1 : 0))])
        guard PlainEntry.read(own, into: &self) != own.count else { return }
        do {
            var reader = try DocumentReader(text: Array(own))
            try reader.entry(into: &self)
        } catch let error as SyncError {
            throw SyncError(error.code, path: path, "this line is damaged: \(error.message)")
        }
        guard RelativePath.isValid(self.path) else {
            throw SyncError(.invalidDocument, path: path, "\"\(escapedText(self.path))\" is no path")
        }
    }
}

/// Reads single entries of a manifest, on one thread. Those that are near each other cost one call.
final class EntryReader {
    private var lines: ManifestLines?
    private var number = -1
    private var block: [UInt8] = []
    /// Where the lines of the block begin, and the end of the last one.
    private var starts: [Int] = []
    private(set) var record = EntryRecord()

    private func load(_ wanted: Int, of lines: ManifestLines) throws {
        guard number != wanted || self.lines !== lines else { return }
        number = -1
        block = try lines.block(wanted)
        starts.removeAll(keepingCapacity: true)
        starts.append(0)
        block.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            while let last = starts.last,
                let end = firstByte(UInt8(ascii: "\n"), base + last, bytes.count - last)
            {
                starts.append(end - base + 1)
            }
        }
        (number, self.lines) = (wanted, lines)
    }

    private func read(line: Int) throws {
        guard let path = lines?.path, line + 1 < starts.count else {
            throw SyncError(.invalidDocument, path: lines?.path, "it is shorter than it was")
        }
        try block.withUnsafeBufferPointer {
            try record.read(UnsafeBufferPointer(rebasing: $0[starts[line]..<(starts[line + 1] - 1)]), path)
        }
    }

    /// Reads the entry of a row into `record`.
    func seek(_ row: Int, in lines: ManifestLines) throws {
        try load(row / ManifestLines.stride, of: lines)
        try read(line: row % ManifestLines.stride)
    }

    /// The first row of a range whose path is not before another one; the end of the range if there is none.
    func row(notBefore path: RelativePath, in rows: Range<Int>, of lines: ManifestLines) throws -> Int {
        guard !rows.isEmpty, lines.count > 0 else { return rows.upperBound }
        let wanted = lines.block(of: path)
        try load(wanted, of: lines)
        let first = wanted * ManifestLines.stride
        var (low, high) = (0, min(starts.count - 1, lines.count - first))
        while low < high {
            let middle = (low + high) / 2
            try read(line: middle)
            let isBefore = record.path.withUnsafeBytes { bytes in
                path.bytes.withUnsafeBytes { RelativePath.order(bytes, $0) < 0 }
            }
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return min(max(first + low, rows.lowerBound), rows.upperBound)
    }
}

extension RelativePath {
    /// Sorts behind the path and all that is below it, and before all else.
    var endOfSubtree: RelativePath { RelativePath(validated: bytes + [1]) }
}
