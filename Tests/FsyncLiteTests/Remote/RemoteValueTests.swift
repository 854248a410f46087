import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

struct EndpointTests {
    private static func endpoint(_ text: String) throws -> Endpoint? { try Endpoint(Array(text.utf8)) }

    @Test(
        arguments: [
            ("nas:/srv", "nas", nil, nil, "/srv"), ("me@nas:photos", "nas", "me", nil, "photos"),
            ("nas:~/photos", "nas", nil, nil, "photos"), ("nas:a:b", "nas", nil, nil, "a:b"),
            ("[fe80::1]:/x", "fe80::1", nil, nil, "/x"),
            ("me@[fe80::1%eth0]:/x", "fe80::1%eth0", "me", nil, "/x"),
            ("ssh://me@nas:2222/srv", "nas", "me", 2222, "/srv"), ("ssh://nas/srv", "nas", nil, nil, "/srv"),
            ("ssh://[::1]:22/x", "::1", nil, 22, "/x"), ("nas:~", "nas", nil, nil, "."),
            ("nas:~//x", "nas", nil, nil, "x"), ("nas:./~x", "nas", nil, nil, "./~x"),
            ("ssh://nas:22/~/m", "nas", nil, 22, "m"), ("ssh://nas/~", "nas", nil, nil, "."),
            ("ssh://nas:22//~x", "nas", nil, 22, "//~x"), ("nas:/~x", "nas", nil, nil, "/~x"),
            ("[nas]:a:b", "nas", nil, nil, "a:b"), ("cafe:x", "cafe", nil, nil, "x"),
            ("10.0.0.1:a:b", "10.0.0.1", nil, nil, "a:b"),
        ] as [(String, String, String?, UInt16?, String)])
    func isReadAsWritten(_ text: String, host: String, user: String?, port: UInt16?, path: String) throws {
        let endpoint = try #require(try Self.endpoint(text))
        #expect(endpoint.host == host && endpoint.user == user && endpoint.port == port)
        #expect(endpoint.path == Array(path.utf8))
        // The recorded endpoint names the same directory.
        #expect(try Endpoint(endpoint.bytes) == endpoint)
    }

    @Test(arguments: ["photos", "./a:b", "/srv/a:b", "a/b:c", "ssh/x"])
    func aPathWithoutAColonBeforeItsFirstSlashIsLocal(_ text: String) throws {
        #expect(try Self.endpoint(text) == nil)
    }

    @Test(arguments: [
        "nas:", ":/x", "-oProxyCommand=x:/y", "me@-x:/y", "a b:/x", "a;b:/x", "$(x):/y", "a\nb:/x", "@nas:/x",
        "[fe80::1/x]:", "ssh://nas", "ssh://nas:0/x", "ssh://nas:99999/x", "ssh://nas:x/y", "a'b:/x",
        "nas:~root", "ssh://nas/~root/x", "2001:db8::1:m", "me@fe80::1%eth0:m", "ssh://2001:db8::1/x",
        "::1:x",
    ])
    func whatSshOrAShellWouldReadOtherwiseIsRefused(_ text: String) {
        #expect(throws: Endpoint.Fault.self) { try Self.endpoint(text) }
    }

    @Test func theFarCommandIsOneWordForItsShell() throws {
        let endpoint = try #require(try Self.endpoint("ssh://me@nas:2222/srv"))
        let access = RemoteAccess(ssh: ["ssh", "-v"], command: "/opt/it's here/fsync-lite")
        let words = access.words(to: endpoint, running: access.program(isReadOnly: true)).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(words.dropLast() == ["ssh", "-v", "-T", "-a", "-x", "-p", "2222", "--", "me@nas"])
        #expect(words.last == #"'/opt/it'\''s here/fsync-lite' serve --read-only"#)
    }
}

struct WireValueTests {
    @Test func numbersComeBackAndHaveOneForm() throws {
        for value in [0, 1, 127, 128, 300, UInt64(UInt32.max), UInt64(Int64.max), .max] {
            var reader = Payload.reader { $0.number(value) }
            #expect(try reader.number() == value)
            #expect(reader.isAtEnd)
        }
        for wrong in [
            [0x80, 0x00], [0x80], [UInt8](repeating: 0xFF, count: 10), [UInt8](repeating: 0x80, count: 11),
        ] {
            #expect(throws: WireError.self) {
                var reader = FrameReader(wrong)
                _ = try reader.number()
            }
        }
    }

    @Test func timesBeforeAndAfter1970ComeBack() throws {
        for seconds in [0, -1, 1, Int64.min, Int64.max] {
            let time = FileTime(seconds: seconds, nanoseconds: 999_999_999)
            var reader = Payload.reader { $0.time(time) }
            #expect(try reader.time() == time)
        }
    }

    /// Sources of another machine become directories of the target.
    @Test func sourcesHaveSoundNamesInOrderOrAreRefused() throws {
        func read(_ names: [String], path: String = "/s") throws -> [String?] {
            var reader = Payload.reader {
                $0.number(UInt(names.count))
                for name in names {
                    $0.bytes(name.utf8)
                    $0.bytes(path.utf8)
                }
            }
            let found = try reader.sources { (name, _, _) throws(WireError) in name }
            try reader.end()
            return found
        }
        #expect(try read([]) == [] && read([""]) == [nil])
        #expect(try read(["a"]) == ["a"] && read(["A", "a", "a-b"]) == ["A", "a", "a-b"])
        for wrong in [
            ["a", "a"], ["b", "a"], ["", "a"], ["", ""], [".."], ["a", "b/c"], [".fsync-lite"],
            ["lost+found"], ["a\0"], ["e\u{301}", "\u{E9}"], [String(repeating: "n", count: 256)],
            (0...WireFormat.sources).map { String(1_000_000 + $0) },
        ] {
            #expect(throws: WireError.self, "\(wrong.prefix(3))") { try read(wrong) }
        }
        #expect(throws: WireError.self) { try read(["a"], path: "s") }
        #expect(throws: WireError.self) { try read(["a"], path: "/s\0") }
    }

    /// Each directory is a few bytes on the connection, but this end stores its whole path.
    @Test func pathsHaveALimit() throws {
        func read(depth: Int) throws {
            try decode(Array(repeating: (0, "d", .directory), count: depth))
        }
        try read(depth: 4096)
        #expect(throws: WireError.self) { try read(depth: 4097) }
    }

    private func decode(
        _ entries: [(levels: UInt32, name: String, type: FileType)], of parts: [String] = []
    ) throws {
        var reader = Payload.reader(.entries) {
            for entry in entries {
                $0.number(entry.levels)
                $0.byte(Sight.whole.rawValue << 1)
                $0.bytes(entry.name.utf8)
                $0.status(status(entry.type), device: 0)
            }
        }
        var decoder = EntryDecoder(parts: parts)
        while !reader.isAtEnd { _ = try decoder.next(&reader) }
    }

    @Test func nothingIsBesideTheSources() throws {
        let sound: [(UInt32, String, FileType)] = [
            (0, "etc", .directory), (0, "sub", .directory), (0, ".fsync-lite", .directory),
            (3, "home", .directory),
        ]
        try decode(sound, of: ["etc", "home"])
        for wrong in [(0, "var", .directory), (0, "etc", .file)] as [(UInt32, String, FileType)] {
            #expect(throws: WireError.self) { try decode([wrong], of: ["etc", "home"]) }
        }
        #expect(throws: WireError.self) {
            try decode([(0, "etc", .directory), (0, ".fsync-lite", .directory)], of: ["etc"])
        }
    }

    @Test func entriesThatWereSentAfterTheDirectoriesBesideThemAreFound() throws {
        var issued = IssuedEntries()
        try issued.append(Array("m".utf8), in: 0, isDirectory: true)
        for name in ["a", "m", "z"] { try issued.append(Array(name.utf8), in: 0, isDirectory: false) }
        for name in ["a", "m", "z"] {
            #expect(issued.path(of: Array(name.utf8), in: 0) == RelativePath(name))
        }
        #expect(issued.path(of: 1) == RelativePath("m"))
    }

    @Test func onlyEntriesThatWereSentCanBeAskedFor() throws {
        var issued = IssuedEntries()
        // a, a/x, a/y, b
        try issued.append(Array("a".utf8), in: 0, isDirectory: true)
        try issued.append(Array("x".utf8), in: 1, isDirectory: false)
        try issued.append(Array("y".utf8), in: 1, isDirectory: false)
        try issued.append(Array("b".utf8), in: 0, isDirectory: false)
        #expect(issued.path(of: Array("y".utf8), in: 1) == RelativePath("a/y"))
        #expect(issued.path(of: Array("b".utf8), in: 0) == RelativePath("b"))
        for (name, directory) in [
            ("x", 0), ("b", 1), ("z", 1), ("..", 0), ("a/x", 0), ("", 0), ("b", 2), ("b", 99),
        ] {
            #expect(
                issued.path(of: Array(name.utf8), in: UInt32(directory)) == nil, "\(name) in \(directory)")
        }
    }
}

/// Everything that the other end says about a file's content is checked.
struct ReceivedContentTests {
    private let bytes = Array("the content of a file".utf8)

    private var digest: Digest {
        var hash = SHA256()
        hash.update(bytes)
        return Digest(hash.finish())
    }

    /// As many bytes are announced as there are.
    private func receive(_ pieces: [(bytes: [UInt8], offset: Int64)], size: Int? = nil) throws -> File {
        var content = ReceivedContent(mostHoles: 1 << 30)
        try content.begin(Payload.file(Int64(bytes.count)))
        for piece in pieces {
            _ = try content.take(Payload.data(piece.bytes, at: piece.offset)) { false }
        }
        let end = Payload.end(Int64(size ?? bytes.count), digest.value)
        return try content.end(end, HostileStream.file("a"), HostileStream.selection) { false }
    }

    @Test func whatComesWholeIsTaken() throws {
        let halves = [(Array(bytes[..<9]), Int64(0)), (Array(bytes[9...]), Int64(9))]
        let file = try receive(halves)
        #expect(file.size == ByteCount(clamping: bytes.count) && file.digest == digest)
    }

    @Test func otherBytesThanTheDigestSaysAreRefused() {
        var changed = bytes
        changed[4] ^= 1
        #expect(throws: WireError.self) { try receive([(changed, 0)]) }
        #expect(throws: WireError.self) { try receive([(Array(bytes.dropLast()), 0)]) }
    }

    @Test func moreThanWasAnnouncedIsRefused() {
        let wrong: [[(bytes: [UInt8], offset: Int64)]] = [
            [(bytes, 1)], [(bytes, 0), (bytes, 0)], [(bytes, .max)], [(bytes, 0), ([1], Int64(bytes.count))],
        ]
        for pieces in wrong {
            #expect(throws: WireError.self) { try receive(pieces) }
        }
        #expect(throws: WireError.self) { try receive([(bytes, 0)], size: bytes.count + 1) }
    }

    @Test func aFileThatBeginsWithoutEndIsRefused() throws {
        var content = ReceivedContent(mostHoles: 1 << 30)
        for _ in 1...3 { try content.begin(Payload.file(1)) }
        #expect(throws: WireError.self) { try content.begin(Payload.file(1)) }
    }
}
