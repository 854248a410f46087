import FileSystem

/// Reads an entry in the form of nearly all lines: keys in order, plain ASCII text, no extended attributes. The general
/// reader reads all other lines, and reports errors.
///
/// It uses pointers, because reading a manifest spends most of its time here.
struct PlainEntry {
    private var next: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>

    private init(_ line: UnsafeBufferPointer<UInt8>) {
        // An empty line has no address, and is not an entry.
        next = line.baseAddress ?? UnsafePointer(bitPattern: 1).unsafelyUnwrapped
        end = next + line.count
    }

    /// The number of bytes read; nil if the entry is not in the plain form.
    static func read(_ line: UnsafeBufferPointer<UInt8>, into record: inout EntryRecord) -> Int? {
        guard let start = line.baseAddress else { return nil }
        var entry = PlainEntry(line)
        return entry.read(into: &record) ? entry.next - start : nil
    }

    /// If it fails, some fields of the record may be set. The general reader sets them all again.
    private mutating func read(into record: inout EntryRecord) -> Bool {
        guard take("{\"path\":\""), let path = text(), take(",\"type\":\"") else { return false }
        var destination: UnsafeBufferPointer<UInt8>?
        if take("file\",\"size\":") {
            guard let size = number() else { return false }
            record.status.type = .file
            record.status.size = ByteCount(clamping: size)
        } else if take("directory\"") {
            record.status.type = .directory
            record.status.size = 0
        } else if take("symlink\",\"destination\":\"") {
            guard let bytes = text() else { return false }
            record.status.type = .symlink
            record.status.size = ByteCount(clamping: bytes.count)
            destination = bytes
        } else {
            return false
        }
        guard take(",\"modified\":\""), let modified = time(&record.modifiedDate), take(",\"mode\":\""),
            let mode = octal(),
            take(",\"owner\":"), let owner = number(), take(",\"group\":"), let group = number(),
            owner <= UInt32.max, group <= UInt32.max
        else { return false }
        record.status.modified = modified
        record.status.permissions = mode
        record.status.owner = UInt32(truncatingIfNeeded: owner)
        record.status.group = UInt32(truncatingIfNeeded: group)
        record.status.links = 1
        if take(",\"links\":") {
            guard let links = number(), links > 1, links <= UInt32.max, record.status.type != .directory
            else {
                return false
            }
            record.status.links = UInt32(links)
        }
        guard take(",\"inode\":"), let inode = number() else { return false }
        record.status.inode = UInt64(inode)
        record.status.created = nil
        if take(",\"created\":\"") {
            guard let created = time(&record.otherDate) else { return false }
            record.status.created = created
        }
        guard take(",\"changed\":\""), let changed = time(&record.otherDate) else { return false }
        record.status.changed = changed
        record.marks = take(",\"racy\":true") ? .racy : []
        record.object = 0
        if take(",\"object\":") {
            guard let object = number(), object > 0 else { return false }
            record.object = UInt64(object)
        }
        record.targetInode = nil
        record.targetChanged = nil
        if take(",\"target_inode\":") {
            guard let inode = number() else { return false }
            record.targetInode = UInt64(inode)
            if take(",\"target_changed\":\"") {
                guard let changed = time(&record.otherDate) else { return false }
                record.targetChanged = changed
            }
        }
        record.digest = nil
        if record.status.type == .file, take(",\"digest\":\"") {
            guard let text = text(), let digest = Digest(text) else { return false }
            record.digest = digest
        }
        guard take("}") else { return false }
        record.status.represents = DeviceNumber(major: 0, minor: 0)
        record.path.removeAll(keepingCapacity: true)
        record.path.append(contentsOf: path)
        if !record.destination.isEmpty { record.destination.removeAll(keepingCapacity: true) }
        if let destination { record.destination.append(contentsOf: destination) }
        if !record.extended.isEmpty { record.extended = ExtendedAttributes() }
        record.omitted = []
        return true
    }

    // MARK: Pieces

    /// Compares eight bytes at a time, then the rest. The literals are constants, so this compiles without a loop.
    @inline(__always)
    private mutating func take(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        guard end - next >= count else { return false }
        let (text, wanted) = (UnsafeRawPointer(next), UnsafeRawPointer(literal.utf8Start))
        func difference<Word: FixedWidthInteger & BitwiseCopyable>(_ index: Int, _: Word.Type) -> Word {
            text.loadUnaligned(fromByteOffset: index, as: Word.self)
                ^ wanted.loadUnaligned(fromByteOffset: index, as: Word.self)
        }
        var (differences, index) = (0 as UInt64, 0)
        while index + 8 <= count {
            differences |= difference(index, UInt64.self)
            index += 8
        }
        if count & 4 != 0 {
            differences |= UInt64(difference(index, UInt32.self))
            index += 4
        }
        if count & 2 != 0 {
            differences |= UInt64(difference(index, UInt16.self))
            index += 2
        }
        if count & 1 != 0 { differences |= UInt64(difference(index, UInt8.self)) }
        guard differences == 0 else { return false }
        next += count
        return true
    }

    /// Text up to the next quote, which is consumed; nil for a backslash or bytes that are not printable ASCII.
    private mutating func text() -> UnsafeBufferPointer<UInt8>? {
        let (start, quote, backslash) = (next, UInt8(ascii: "\""), UInt8(ascii: "\\"))
        while end - next >= 8 {
            let word = UInt64(eightBytesAt: next)
            let special =
                word.finding(below: 0x20) | word.finding(quote) | word.finding(backslash) | word & .highs
            next += special.trailingZeroBitCount / 8
            if special != 0 { break }
        }
        while next < end {
            let byte = next.pointee
            if byte == quote {
                defer { next += 1 }
                return UnsafeBufferPointer(start: start, count: next - start)
            }
            guard byte >= 0x20, byte < 0x80, byte != backslash else { return nil }
            next += 1
        }
        return nil
    }

    /// A number of at most eighteen digits, which cannot overflow.
    private mutating func number() -> Int64? {
        let start = next
        var number: Int64 = 0
        if end - next >= 8 {
            let word = DecimalWord(next)
            number = word.leadingNumber
            next += word.leadingDigits
        }
        while next < end, next.pointee &- UInt8(ascii: "0") < 10 {
            number = number &* 10 &+ Int64(next.pointee &- UInt8(ascii: "0"))
            next += 1
        }
        let count = next - start
        guard count > 0, count <= 18, count == 1 || start.pointee != UInt8(ascii: "0") else { return nil }
        return number
    }

    /// Four octal digits and the closing quote.
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

    /// A time with a four-digit year, and the closing quote.
    private mutating func time(_ recent: inout RecentDate) -> FileTime? {
        guard end - next >= 21, recent.read(next) else { return nil }
        let clock = DecimalWord(next + 11, between: "00:00:00")
        guard clock.isDecimal, clock.pair(at: 0) < 24, clock.pair(at: 3) < 60, clock.pair(at: 6) < 60
        else { return nil }
        var nanoseconds: Int64 = 0
        var length = 19
        if next[19] == UInt8(ascii: ".") {
            guard end - next >= 31 else { return nil }
            let fraction = DecimalWord(next + 20)
            let last = next[28] &- UInt8(ascii: "0")
            nanoseconds = fraction.number &* 10 &+ Int64(last)
            guard fraction.isDecimal, last < 10, nanoseconds > 0 else { return nil }
            length = 29
        }
        guard next[length] == UInt8(ascii: "Z"), next[length + 1] == UInt8(ascii: "\"") else { return nil }
        next += length + 2
        let seconds = (clock.pair(at: 0) &* 60 &+ clock.pair(at: 3)) &* 60 &+ clock.pair(at: 6)
        return FileTime(
            seconds: recent.days &* 86_400 &+ seconds, nanoseconds: Int32(truncatingIfNeeded: nanoseconds))
    }
}

/// The date that was read last, with a four-digit year. The same text need not be parsed again.
struct RecentDate {
    /// Bytes 0..<8 and 3..<11 of the text, which ends in `T`. The initial values match no text.
    private var beginning: UInt64 = 0
    private var ending: UInt64 = ~0
    /// Days since 1970.
    private(set) var days: Int64 = 0

    /// Parses the date of a time of at least eleven bytes; false if it is not in the plain form.
    @inline(__always)
    mutating func read(_ text: UnsafePointer<UInt8>) -> Bool {
        let words = (UInt64(eightBytesAt: text), UInt64(eightBytesAt: text + 3))
        return words == (beginning, ending) || parse(text, words)
    }

    private mutating func parse(_ text: UnsafePointer<UInt8>, _ words: (UInt64, UInt64)) -> Bool {
        let date = DecimalWord(text, between: "0000-00-")
        let day = DecimalWord(text + 3, between: "0-00-00T")
        guard date.isDecimal, day.isDecimal else { return false }
        let (year, month) = (date.pair(at: 0) &* 100 &+ date.pair(at: 2), date.pair(at: 5))
        guard 1...12 ~= month, day.pair(at: 5) >= 1, day.pair(at: 5) <= daysInMonth(month, year: year)
        else { return false }
        days = daysSince1970(year: year, month: month, day: day.pair(at: 5))
        (beginning, ending) = words
        return true
    }
}
