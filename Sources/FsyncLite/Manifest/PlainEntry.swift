import FileSystem

/// Reads an entry as the writer lays nearly all of them out: keys in their one order, plain ASCII text, no extended
/// attributes. Whatever is otherwise, wrong or not, is left to the reader of any entry, which knows what to say.
///
/// This is where the time of reading a manifest goes; hence the pointers.
struct PlainEntry {
    private var next: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    private init(_ line: UnsafeBufferPointer<UInt8>) {
        // A line that is empty has no address, and no entry either.
        next = line.baseAddress ?? UnsafePointer(bitPattern: 1).unsafelyUnwrapped
        end = next + line.count
    }

    /// The number of bytes that were read; nil where the entry is none of the plain ones.
    static func read(_ line: UnsafeBufferPointer<UInt8>, into record: inout EntryRecord) -> Int? {
        guard let start = line.baseAddress else { return nil }
        var entry = PlainEntry(line)
        return entry.read(into: &record) ? entry.next - start : nil
    }

    private mutating func read(into record: inout EntryRecord) -> Bool {
        guard take("{\"path\":\""), let path = text(), take(",\"type\":\"") else { return false }
        var status = FileStatus(type: .file, modified: FileTime(seconds: 0, nanoseconds: 0))
        var destination: UnsafeBufferPointer<UInt8>?
        if take("file\",\"size\":") {
            guard let size = number() else { return false }
            status.size = size
        } else if take("directory\"") {
            status.type = .directory
        } else if take("symlink\",\"destination\":\"") {
            guard let bytes = text() else { return false }
            status.type = .symlink
            status.size = Int64(bytes.count)
            destination = bytes
        } else {
            return false
        }
        guard take(",\"modified\":\""), let modified = time(), take(",\"mode\":\""), let mode = octal(),
            take(",\"owner\":"), let owner = number(), take(",\"group\":"), let group = number(),
            owner <= UInt32.max, group <= UInt32.max
        else { return false }
        status.modified = modified
        status.permissions = mode
        status.owner = UInt32(owner)
        status.group = UInt32(group)
        if take(",\"links\":") {
            guard let links = number(), links > 1, links <= UInt32.max, status.type != .directory else {
                return false
            }
            status.links = UInt32(links)
        }
        guard take(",\"inode\":"), let inode = number() else { return false }
        status.inode = UInt64(inode)
        if take(",\"created\":\"") {
            guard let created = time() else { return false }
            status.created = created
        }
        guard take(",\"changed\":\""), let changed = time() else { return false }
        status.changed = changed
        record.targetInode = nil
        if take(",\"target_inode\":") {
            guard let inode = number() else { return false }
            record.targetInode = UInt64(inode)
        }
        record.digest = nil
        if status.type == .file, take(",\"digest\":\"") {
            guard let text = text(), let digest = Digest(text) else { return false }
            record.digest = digest
        }
        guard take("}") else { return false }
        record.status = status
        record.path.removeAll(keepingCapacity: true)
        record.path.append(contentsOf: path)
        record.destination.removeAll(keepingCapacity: true)
        if let destination { record.destination.append(contentsOf: destination) }
        if !record.extended.isEmpty { record.extended = ExtendedAttributes() }
        record.omitted = []
        return true
    }

    // MARK: Pieces

    @inline(__always)
    private mutating func take(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        guard end - next >= count else { return false }
        let start = literal.utf8Start
        for index in 0..<count where next[index] != start[index] { return false }
        next += count
        return true
    }

    /// Up to the next quote, which is stepped over.
    private mutating func text() -> UnsafeBufferPointer<UInt8>? {
        let start = next
        while end - next >= 8 {
            let special = PlainEntry.special(
                UnsafeRawPointer(next).loadUnaligned(as: UInt64.self).littleEndian)
            next += special.trailingZeroBitCount / 8
            if special != 0 { break }
        }
        while next < end {
            let byte = next.pointee
            if byte == UInt8(ascii: "\"") {
                defer { next += 1 }
                return UnsafeBufferPointer(start: start, count: next - start)
            }
            guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "\\") else { return nil }
            next += 1
        }
        return nil
    }

    /// Eight bytes at a time: not zero where one of them is a quote, a backslash or no printable ASCII, and then the
    /// lowest bit that is set lies in the first such byte. See "Determine if a word has a byte less than n" in S. E.
    /// Anderson, Bit Twiddling Hacks; a borrow from a byte that is met can only be wrong about those above it.
    @inline(__always)
    private static func special(_ word: UInt64) -> UInt64 {
        let (ones, highs) = (0x0101_0101_0101_0101 as UInt64, 0x8080_8080_8080_8080 as UInt64)
        func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }
        let control = (word &- ones &* 0x20) & ~word
        let quote = zeros(word ^ ones &* UInt64(UInt8(ascii: "\"")))
        let backslash = zeros(word ^ ones &* UInt64(UInt8(ascii: "\\")))
        return (control | quote | backslash | word) & highs
    }

    /// A number of at most eighteen digits, so that it cannot overflow.
    private mutating func number() -> Int64? {
        let start = next
        var number: Int64 = 0
        while next < end, let digit = digit(next.pointee) {
            number = number &* 10 &+ digit
            next += 1
        }
        let count = next - start
        guard count > 0, count <= 18, count == 1 || start.pointee != UInt8(ascii: "0") else { return nil }
        return number
    }

    @inline(__always)
    private func digit(_ byte: UInt8) -> Int64? {
        let value = byte &- UInt8(ascii: "0")
        return value < 10 ? Int64(value) : nil
    }

    /// All digits are read before one of them is found to be none.
    @inline(__always)
    private func decimal(_ offset: Int, _ count: Int) -> Int64? {
        var (number, highest) = (0 as Int64, 0 as UInt8)
        for index in offset..<offset &+ count {
            let digit = next[index] &- UInt8(ascii: "0")
            number = number &* 10 &+ Int64(digit)
            highest = max(highest, digit)
        }
        return highest < 10 ? number : nil
    }

    /// Four octal digits and the quote.
    private mutating func octal() -> UInt16? {
        guard end - next >= 5, next[4] == UInt8(ascii: "\"") else { return nil }
        var mode: UInt16 = 0
        for index in 0..<4 {
            let digit = next[index] &- UInt8(ascii: "0")
            guard digit < 8 else { return nil }
            mode = mode << 3 | UInt16(digit)
        }
        next += 5
        return mode
    }

    /// A time of four-digit years, with the quote after it.
    private mutating func time() -> FileTime? {
        let (dash, colon) = (UInt8(ascii: "-"), UInt8(ascii: ":"))
        guard end - next >= 21, next[4] == dash, next[7] == dash, next[10] == UInt8(ascii: "T"),
            next[13] == colon, next[16] == colon,
            let year = decimal(0, 4), let month = decimal(5, 2), let day = decimal(8, 2),
            let hour = decimal(11, 2), let minute = decimal(14, 2), let second = decimal(17, 2),
            1...12 ~= month, day >= 1, day <= daysInMonth(month, year: year), hour < 24, minute < 60,
            second < 60
        else { return nil }
        var nanoseconds: Int64 = 0
        var length = 19
        if next[19] == UInt8(ascii: ".") {
            guard end - next >= 31, let fraction = decimal(20, 9), fraction > 0 else { return nil }
            nanoseconds = fraction
            length = 29
        }
        guard next[length] == UInt8(ascii: "Z"), next[length + 1] == UInt8(ascii: "\"") else { return nil }
        next += length + 2
        let days = daysSince1970(year: year, month: month, day: day)
        return FileTime(
            seconds: days &* 86_400 &+ hour &* 3600 &+ minute &* 60 &+ second,
            nanoseconds: Int32(truncatingIfNeeded: nanoseconds))
    }
}
