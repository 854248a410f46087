import FileSystem

/// A directory in a request for lists.
///
///     asked = number wish [own digest]
struct AskedList {
    enum Wish {
        /// Send the entries. If their digest is this one, send only the digests of the subdirectories.
        case unless(DirectoryDigest)
        /// Send the entries. Their directories get numbers in order, as they do when only digests are sent.
        case entries
        /// Send the entries of a directory whose subdirectories have numbers already.
        case rest
    }

    let number: UInt32
    let wish: Wish

    init(number: UInt32, _ wish: Wish) {
        (self.number, self.wish) = (number, wish)
    }

    init(_ reader: inout FrameReader) throws(WireError) {
        number = try reader.number(UInt32.self)
        switch try reader.byte() {
        case 0: wish = .entries
        case 1: wish = .rest
        case 2: wish = .unless(try reader.directoryDigest())
        default: throw WireError("an unknown wish")
        }
    }

    func write(to frame: inout FrameWriter) {
        frame.number(number)
        switch wish {
        case .entries: frame.byte(0)
        case .rest: frame.byte(1)
        case .unless(let digest):
            frame.byte(2)
            frame.digest(digest)
        }
    }
}

/// A part of the answer. For each directory in order, it has entries and an `end`, or one of the other cases.
enum ListItem {
    case entry(FileName, EntryDecoder.Entry, DirectoryDigest)
    case end
    /// The entries have that digest. The values are the digests of the subdirectories, in order.
    case same([DirectoryDigest])
    case unlisted
    /// It no longer exists.
    case gone

    enum Code {
        static let entry: UInt8 = 0
        static let end: UInt8 = 1
        static let same: UInt8 = 2
        static let unlisted: UInt8 = 3
        static let gone: UInt8 = 4
    }

    /// The most subdirectories whose digests fit into one frame.
    static let mostDigests = 32_768

    /// - Parameters:
    ///   - last: the name before it in its directory; empty for the first.
    ///   - isAtTop: the directory is the root.
    init(_ reader: inout FrameReader, after last: [UInt8], isAtTop: Bool) throws(WireError) {
        switch try reader.byte() {
        case Code.entry:
            let (name, entry) = try EntryDecoder.entry(&reader, after: last, isAtTop: isAtTop)
            let isDirectory = entry.status.type == .directory
            self = .entry(name, entry, isDirectory ? try reader.directoryDigest() : .unknown)
        case Code.end: self = .end
        case Code.same:
            self = .same(
                try reader.array(upTo: UInt32(ListItem.mostDigests)) { (reader) throws(WireError) in
                    try reader.directoryDigest()
                })
        case Code.unlisted: self = .unlisted
        case Code.gone: self = .gone
        default: throw WireError("an unknown part of a list")
        }
    }
}
