import FileSystem

/// A directory in a request for lists.
///
///     asked = number wish [own digest]
struct AskedList {
    enum Wish {
        /// The entries, unless their digest is this one: then the digests of the subdirectories alone.
        case unless(DirectoryDigest)
        /// The entries. The directories among them get numbers, in order, as those of which only the digests are told.
        case entries
        /// The entries of a directory of which the subdirectories have numbers already.
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

/// Parts of the answer: of each directory that was asked for, in order, its entries and an end, or one of the others.
enum ListItem {
    case entry(FileName, EntryDecoder.Entry, DirectoryDigest)
    case end
    /// The entries are those of the digest; the digests of the subdirectories, in order.
    case same([DirectoryDigest])
    case unlisted
    /// It does not exist any more.
    case gone

    enum Code {
        static let entry: UInt8 = 0
        static let end: UInt8 = 1
        static let same: UInt8 = 2
        static let unlisted: UInt8 = 3
        static let gone: UInt8 = 4
    }

    /// Subdirectories whose digests fit into one frame.
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
            let count = try reader.number(UInt32.self, upTo: UInt32(ListItem.mostDigests))
            var digests: [DirectoryDigest] = []
            for _ in 0..<count { digests.append(try reader.directoryDigest()) }
            self = .same(digests)
        case Code.unlisted: self = .unlisted
        case Code.gone: self = .gone
        default: throw WireError("an unknown part of a list")
        }
    }
}
