import FileSystem
import Foundation
import TestSupport
import Testing

@testable import FsyncLite

/// Valid streams of answers, and ways to damage them.
enum HostileStream {
    static let selection = ExtendedAttributes.Selection(plain: true, acls: true, privileged: false)

    static func file(_ path: String) throws -> File {
        let path = try #require(RelativePath(path))
        return File(
            path: path, kind: .file, size: 1, modified: Timestamp(FileTime(seconds: 1, nanoseconds: 2)),
            mode: 0o644)
    }

    private static func answer(_ id: UInt32, _ random: inout SplitMix64, _ write: (inout FrameWriter) -> Void)
        -> [[UInt8]]
    {
        var content = FrameWriter(.answer)
        write(&content)
        var rest = content.bytes.dropFirst(WireFormat.headSize)
        var frames: [[UInt8]] = []
        repeat {
            let piece = rest.prefix(Int(random.next() % 200) + 1)
            rest = rest.dropFirst(piece.count)
            var frame = FrameWriter(.answer, for: id)
            frame.flag(rest.isEmpty)
            frame.raw(piece)
            frames.append(frame.frame())
        } while !rest.isEmpty
        return frames
    }

    private static func status(_ type: FileType, _ random: inout SplitMix64) -> FileStatus {
        var status = random.file(.root, type).status
        status.size = ByteCount(clamping: random.next() >> 1)
        return status
    }

    /// A whole session with each kind of answer.
    static func frames(_ random: inout SplitMix64) -> [[UInt8]] {
        let names = random.next() % 2 == 0 ? [""] : ["n00000", "n00001", "n00002"]
        var frames = answer(1, &random) { frame in
            frame.number(UInt(names.count))
            for name in names {
                frame.bytes(name.utf8)
                frame.bytes("/source".utf8)
                frame.status(
                    FileStatus(type: .directory, modified: FileTime(seconds: 0, nanoseconds: 0)), device: 0)
                frame.flag(false)
                frame.text("801")
                frame.flag(true)
                frame.number(1 as UInt32)
                for _ in 0..<3 { frame.number(2 as UInt32) }
            }
            if names.count == 1 {
                frame.extended(
                    ExtendedAttributes([
                        .init(name: Array("user.a".utf8), value: [1, 2]),
                        .init(name: Array("user.b".utf8), value: []),
                    ]))
            }
            frame.text("0123456789abcdef")
            frame.text("boot-id")
            frame.flag(true)
            frame.flag(names.count == 1)
            frame.time(FileTime(seconds: 1_700_000_000, nanoseconds: 1))
            frame.size(1)
            frame.text("c0ffee")
            frame.size(70)
            frame.flag(false)
        }
        frames += answer(2, &random) { frame in
            frame.bytes([])
            frame.flag(true)
            frame.bytes("*.o\n".utf8)
            frame.flag(false)
            frame.flag(false)
        }
        frames += entries(&random)
        frames += answer(3, &random) { frame in
            var findings = TreeScan.Findings()
            findings.omittedSockets = 2
            if let path = RelativePath("x") {
                findings.mounted = [SourceMount(path: path, fileSystem: "ext4 5ab0")]
                findings.problems = [Problem(path: path, code: .unreadable, message: "Permission denied")]
            }
            frame.findings(findings)
        }
        let result = UInt8(random.next() % 3)
        frames += answer(4, &random) { frame in
            frame.byte(result)
            if result == 0 {
                frame.extended(
                    ExtendedAttributes([
                        .init(name: Array("system.posix_acl_access".utf8), value: [2, 0, 0, 0])
                    ]))
            }
            if result == 2 { frame.text("EACCES") }
        }
        let status = status(.file, &random)
        frames += answer(5, &random) { frame in
            frame.byte(0)
            frame.flag(true)
            frame.digest(Digest(SHA256().finish()))
            frame.status(status, device: 0)
            frame.flag(true)
            frame.byte(0)
        }
        return frames + content(6, &random) + content(7, &random, isDelta: true) + lists(&random)
    }

    private static func lists(_ random: inout SplitMix64) -> [[UInt8]] {
        func digest(_ random: inout SplitMix64) -> DirectoryDigest {
            DirectoryDigest(first: random.next(), second: random.next())
        }
        let root = digest(&random)
        var frames = answer(8, &random) { frame in
            frame.digest(root)
            frame.findings(TreeScan.Findings())
        }
        var frame = FrameWriter(.entries, for: 9)
        frame.byte(ListItem.Code.same)
        frame.number(2 as UInt32)
        for _ in 0..<2 { frame.digest(digest(&random)) }
        for number in 0..<(random.next() % 9) {
            frame.byte(ListItem.Code.entry)
            frame.byte(Sight.whole.rawValue << 1)
            frame.bytes(String(format: "n%05d", number).utf8)
            let type: FileType = random.next() % 2 == 0 ? .directory : .file
            frame.status(status(type, &random), device: 0)
            if type == .directory { frame.digest(digest(&random)) }
        }
        for code in [ListItem.Code.end, ListItem.Code.unlisted, ListItem.Code.gone] { frame.byte(code) }
        frames.append(frame.frame())
        return frames + answer(9, &random) { $0.findings(TreeScan.Findings()) } + snapshot(&random)
    }

    private static func snapshot(_ random: inout SplitMix64) -> [[UInt8]] {
        var frame = FrameWriter(.entries, for: 10)
        frame.raw("{\"format\":\"fsync-lite-manifest\"".utf8)
        return [frame.frame()]
            + answer(10, &random) { frame in
                frame.text("20261129T080229.404559Z-e7a4")
                frame.byte(MirroredAttributes.all.rawValue)
                for texts in [["a", "b/c"], ["a note"]] {
                    frame.number(UInt(texts.count))
                    for text in texts { frame.text(text) }
                }
                frame.number(1 as UInt32)
                if let path = RelativePath("a") {
                    frame.problem(.purged(path))
                    frame.problem(.replaced(path))
                }
            }
    }

    private static func entries(_ random: inout SplitMix64) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var frame = FrameWriter(.entries, for: 3)
        /// The number of names so far in each open directory.
        var open = [0]
        var levels: UInt32 = 0
        for _ in 0..<(random.next() % 30) {
            while open.count > 1, random.next() % 3 == 0 {
                open.removeLast()
                levels += 1
            }
            open[open.count - 1] += 1
            let types: [FileType] = [.file, .file, .directory, .symlink, .fifo, .characterDevice]
            let type = types[Int(random.next() % UInt64(types.count))]
            frame.number(levels)
            frame.byte(Sight.whole.rawValue << 1)
            frame.bytes(String(format: "n%05d", open[open.count - 1]).utf8)
            frame.status(status(type, &random), device: UInt32(random.next() % 3))
            if type == .symlink { frame.bytes("../there".utf8) }
            levels = 0
            if type == .directory { open.append(0) }
            if random.next() % 5 == 0 {
                frames.append(frame.frame())
                frame = FrameWriter(.entries, for: 3)
            }
        }
        return frame.count > 1 ? frames + [frame.frame()] : frames
    }

    private static func data(_ id: UInt32, at offset: Int, _ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var frame = FrameWriter(.data, for: id)
        frame.size(Int64(offset))
        frame.raw(bytes)
        return frame.frame()
    }

    private static func content(
        _ id: UInt32, _ random: inout SplitMix64, isDelta: Bool = false
    ) -> [[UInt8]] {
        let bytes = (0..<Int(random.next() % 500)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        var begin = FrameWriter(.file, for: id)
        begin.size(Int64(bytes.count))
        begin.flag(true)
        var frames = [begin.frame()]
        if isDelta, !bytes.isEmpty {
            var (blocks, frame) = (BlockHashes(), FrameWriter(.blocks, for: id))
            blocks.append(0..<Int64(bytes.count), BlockHashes.hash(bytes[...], 1))
            blocks.write(to: &frame, after: 0)
            frames.append(frame.frame())
        }
        var offset = 0
        while offset < bytes.count {
            let piece = bytes[offset...].prefix(Int(random.next() % 200) + 1)
            frames.append(data(id, at: offset, piece))
            offset += piece.count
        }
        if isDelta, !bytes.isEmpty { frames.append(data(id, at: bytes.count, [])) }
        var status = status(.file, &random)
        status.size = ByteCount(clamping: bytes.count)
        var hash = SHA256()
        hash.update(bytes)
        let digest = Digest(hash.finish())
        return frames
            + answer(id, &random) { frame in
                frame.byte(0)
                frame.status(status, device: 0)
                frame.flag(false)
                frame.byte(1)
                frame.extended(ExtendedAttributes())
                frame.digest(digest)
            }
    }

    /// A command with all kinds of content.
    static func command(_ random: inout SplitMix64) -> RemoteCommand {
        func options() -> [RemoteCommand.Option] {
            (0..<Int(random.next() % 4)).map { index in
                let values = (0..<Int(random.next() % 3)).map { [UInt8](repeating: 0x61, count: $0 + index) }
                return RemoteCommand.Option("--option-\(index)", random.next() % 4 == 0 ? nil : values)
            }
        }
        var terminal = RemoteCommand.Terminal(.output)
        terminal.columns = random.next() % 2 == 0 ? nil : 80
        var command = RemoteCommand(
            "snapshot list", [Array("far:/t".utf8), [0xFF]],
            options: [Array("--option=".utf8) + [0xFF]], typed: [Array("run".utf8), [0x61]],
            defaults: options(), host: "here", output: terminal, errors: terminal)
        if random.next() % 2 == 0 { command.job = ("nightly", options()) }
        command.source =
            [nil, .directory(Array("/s".utf8)), .named(["a": [0x2F], "b": Array("/b".utf8)])][
                Int(random.next() % 3)]
        if random.next() % 2 == 0 { command.document = Array("{}".utf8) }
        return command
    }

    /// Frames are lost, repeated, out of order, or of another type.
    static func damage(_ frames: inout [[UInt8]], _ random: inout SplitMix64) {
        for _ in 0...(random.next() % 3) {
            guard !frames.isEmpty else { return }
            let index = Int(random.next() % UInt64(frames.count))
            let other = Int(random.next() % UInt64(frames.count))
            switch random.next() % 6 {
            case 0: frames.remove(at: index)
            case 1: frames.insert(frames[index], at: other)
            case 2: frames.swapAt(index, other)
            case 3: frames[index][4] = UInt8(random.next() % 18)
            case 4: frames.removeSubrange(index...)
            default: hostileName(&frames[index], &random)
            }
        }
    }

    /// Numbers at the ends of their ranges, empty frames, and frames that are repeated many times.
    static func exaggerate(_ frames: inout [[UInt8]], _ random: inout SplitMix64) {
        for _ in 0...(random.next() % 3) {
            guard !frames.isEmpty else { return }
            let index = Int(random.next() % UInt64(frames.count))
            let head = WireFormat.headSize
            switch random.next() % 4 {
            case 0:
                let numbers: [UInt64] = [
                    0, 1, 127, 1 << 16, 1 << 31, 1 << 32 - 1, 1 << 40, 1 << 62, 1 << 63 - 1, .max,
                ]
                var number = FrameWriter(.data)
                number.number(numbers[Int(random.next() % UInt64(numbers.count))])
                let place = head + Int(random.next() % UInt64(frames[index].count - head + 1))
                let end = min(place + 1, frames[index].count)
                frames[index].replaceSubrange(place..<end, with: number.bytes.dropFirst(head))
                let length = UInt32(frames[index].count - head)
                for byte in 0..<4 {
                    frames[index][byte] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(byte)))
                }
            case 1: frames[index] = [1, 0, 0, 0, UInt8(random.next() % 18), UInt8(random.next() % 10)]
            case 2: frames[index] = [2, 0, 0, 0, UInt8(random.next() % 18), UInt8(random.next() % 10), 0]
            default:
                frames.insert(
                    contentsOf: [[UInt8]](repeating: frames[index], count: Int(random.next() % 100)),
                    at: index)
            }
        }
    }

    /// Replaces a valid name by one of the same length that leads elsewhere.
    private static func hostileName(_ frame: inout [UInt8], _ random: inout SplitMix64) {
        let names = ["../../", "/etc/p", "..\u{0}\u{0}\u{0}\u{0}", "n0\u{0}\u{1B}[m", "a/../b", "n00000"]
        guard let start = frame.firstIndex(of: UInt8(ascii: "n")), start + 6 <= frame.count else { return }
        let name = names[Int(random.next() % UInt64(names.count))].utf8
        frame.replaceSubrange(start..<start + 6, with: name.prefix(6))
    }

    /// Bytes are changed, inserted or cut off.
    static func damage(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        for _ in 0...(random.next() % 4) {
            guard !bytes.isEmpty else { return }
            let index = Int(random.next() % UInt64(bytes.count))
            switch random.next() % 5 {
            case 0: bytes[index] ^= 1 << UInt8(random.next() % 8)
            case 1: bytes[index] = [0, 0x7F, 0x80, 0xFF][Int(random.next() % 4)]
            case 2: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
            case 3: bytes.removeSubrange(index..<min(index + 9, bytes.count))
            default: bytes.removeSubrange(index...)
            }
        }
    }
}
