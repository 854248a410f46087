import FileSystem
import FsyncLite

/// Random values as in documents, usual and odd ones.
extension SplitMix64 {
    package mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    package mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[number(0...choices.count - 1)]
    }

    /// A file name: usually a word, sometimes with escapes, other scripts, or invalid UTF-8.
    package mutating func name() -> [UInt8] {
        let word = Array("\(pick(["a", "b", "file", "photo", "x", "deep", "zz"]))\(number(0...99))".utf8)
        switch number(0...11) {
        case 0: return word + Array("é\u{301}\u{1F600}".utf8)
        case 1: return word + [0xFF, 0xFE]
        case 2: return word + Array("\"\\\n\t\u{1}\u{7F}".utf8)
        case 3: return Array(repeating: UInt8(ascii: "n"), count: number(1...255))
        case 4: return Array(".".utf8) + word
        case 5: return word + Array("-.+ ~".utf8)
        default: return word
        }
    }

    package mutating func inode() -> UInt64 { oneIn(20) ? .max - next() % 3 : next() % 100_000 + 1 }

    package mutating func time() -> FileTime {
        let seconds: Int64 =
            switch number(0...11) {
            case 0: -Int64(next() % 4_000_000_000)
            case 1: Int64(next() % 20_000_000_000)
            case 2: pick([Int64.min, Int64.max, 0, -1, 253_402_300_800, -62_167_219_201])
            default: 1_700_000_000 + Int64(next() % 100_000_000)
            }
        return FileTime(seconds: seconds, nanoseconds: oneIn(3) ? 0 : Int32(next() % 1_000_000_000))
    }

    package mutating func permissions() -> UInt16 {
        oneIn(6) ? UInt16(next() % 0o10000) : pick([0o644, 0o755, 0o600])
    }
    package mutating func account() -> UInt32 {
        oneIn(10) ? pick([.max, .max - 1, 65534]) : UInt32(next() % 2000)
    }

    /// Sorted by name, without duplicates.
    package mutating func extended() -> ExtendedAttributes {
        var names: Set<[UInt8]> = []
        for _ in 0..<number(1...3) {
            names.insert(Array(pick(["user.", "trusted.", "system.posix_acl_access"]).utf8) + name())
        }
        return ExtendedAttributes(
            names.sorted { $0.lexicographicallyPrecedes($1) }.map {
                ExtendedAttributes.Attribute(
                    name: $0, value: oneIn(3) ? [] : name() + (oneIn(2) ? [0, 0xFF] : []))
            })
    }

    package mutating func identity() -> FileIdentity {
        let inode = inode()
        return FileIdentity(inode: inode, created: oneIn(5) ? nil : Timestamp(time()))
    }

    /// The type, identity, times and size of an object. Every document that has a status has these.
    package mutating func status(_ type: FileType) -> FileStatus {
        var status = FileStatus(type: type, modified: time())
        let identity = identity()
        (status.inode, status.created) = (identity.inode, identity.created?.fileTime)
        status.changed = time()
        if type == .file { status.size = ByteCount(clamping: next() % 1_000_000) }
        return status
    }

    /// An entry, with everything that a document has of one.
    package mutating func file(_ path: RelativePath, _ type: FileType) -> File {
        var status = status(type)
        (status.permissions, status.owner, status.group) = (permissions(), account(), account())
        if type == .file, oneIn(12) { status.size = .max }
        if type != .directory, oneIn(5) { status.links = UInt32(number(2...9)) }
        if type == .characterDevice || type == .blockDevice {
            status.represents = DeviceNumber(major: account(), minor: account())
        }
        let destination = type == .symlink ? Array("../".utf8) + name() : []
        if type == .symlink { status.size = ByteCount(clamping: destination.count) }
        var file = File(path: path, status: status, destination: destination, object: 1 + next() % 1000)
        if oneIn(4) { file.extended = extended() }
        if type == .file, oneIn(3) { file.digest = Digest(.init(next(), next(), 0, next())) }
        if oneIn(4) { file.omitted = Omissions(rawValue: UInt8(number(0...31))) }
        return file
    }

    /// A path of one or two names.
    package mutating func path() -> RelativePath {
        let bytes = oneIn(2) ? name() : name() + [UInt8(ascii: "/")] + name()
        return RelativePath(bytes) ?? .root
    }
}
