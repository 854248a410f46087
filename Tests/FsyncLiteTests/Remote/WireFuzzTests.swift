import FileStorage
import FileSystem
import Foundation
import TestSupport
import Testing

@testable import FsyncLite

/// A hostile machine may send any stream. It is read by the rules, or refused with a reason.
struct WireFuzzTests {
    /// 100,000 with FSYNC_LITE_STREAMS. Each is made from its number.
    private static let streams =
        ProcessInfo.processInfo.environment["FSYNC_LITE_STREAMS"].flatMap { Int($0) } ?? 4000

    @Test func hostileStreamsAreTakenByTheRulesOrRefused() throws {
        var (taken, refused) = (0, 0)
        for number in 0..<WireFuzzTests.streams {
            var random = SplitMix64(seed: UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1)
            var frames = HostileStream.frames(&random)
            if number % 16 > 0 { HostileStream.damage(&frames, &random) }
            var bytes = frames.flatMap(\.self)
            if number % 16 > 8 { HostileStream.damage(&bytes, &random) }
            do {
                try WireFuzzTests.read(bytes, &random, number)
                taken += 1
            } catch let error as WireError {
                refused += 1
                #expect(number % 16 > 0, "stream \(number) was sound: \(error.reason)")
            } catch is ReceivedContent.Mismatch, is ReceivedContent.TooManyZeros {
                refused += 1
                #expect(number % 16 > 0, "stream \(number) was sound")
            } catch is Unstageable {
                taken += 1
            } catch let error as SyncError {
                #expect(error.message.utf8.count <= 4 * WireFormat.longestText, "stream \(number)")
                taken += 1
            }
        }
        #expect(taken > WireFuzzTests.streams / 16)
        #expect(refused > WireFuzzTests.streams / 4)
    }

    /// The processor time of this thread so far, in nanoseconds.
    private static var processorTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Numbers at the ends of their ranges, and frames that are empty or come a hundred times. A message
    /// costs only time and memory for its bytes.
    @Test func hostileStreamsCostWhatTheyAreLong() throws {
        var (frameCount, byteCount, total) = (0, 0, Int64(0))
        var worst: (cost: Int64, number: Int, bytes: Int) = (0, 0, 0)
        let highest = WireFuzzTests.highestMemory(isReset: true)
        for number in 0..<WireFuzzTests.streams {
            var random = SplitMix64(seed: UInt64(number) &* 0xA24B_AED4_963E_E407 | 1)
            var frames = HostileStream.frames(&random)
            HostileStream.exaggerate(&frames, &random)
            let bytes = frames.flatMap(\.self)
            (frameCount, byteCount) = (frameCount + frames.count, byteCount + bytes.count)
            let before = WireFuzzTests.processorTime
            // The result is checked above.
            _ = try? WireFuzzTests.read(bytes, &random, number)
            let cost = WireFuzzTests.processorTime - before
            total += cost
            if cost > worst.cost { worst = (cost, number, bytes.count) }
            #expect(cost < 1_000_000_000 + 20_000 * Int64(bytes.count), "stream \(number)")
        }
        let grown = WireFuzzTests.highestMemory(isReset: false) - highest
        if WireFuzzTests.streams > 4000 {
            print(
                "\(frameCount) frames, \(byteCount) bytes: \(total / 1_000_000) ms; at most \(worst.cost / 1_000_000) ms for stream",
                "\(worst.number) of \(worst.bytes) bytes; memory grew by \(grown) KiB")
            #expect(grown < 64 << 10)
        }
    }

    /// In KiB, since it was reset. See `proc_pid_status(5)`.
    private static func highestMemory(isReset: Bool) -> Int {
        if isReset { try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8) }
        let lines =
            (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.split(separator: "\n") ?? []
        return lines.first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    /// A hostile machine's command is refused, or it is the same when it is written again.
    @Test func hostileCommandsAreReadTheSameOrRefused() throws {
        var (taken, refused) = (0, 0)
        for number in 0..<WireFuzzTests.streams {
            var random = SplitMix64(seed: UInt64(number) &* 0xD134_2543_DE82_EF95 | 1)
            let command = HostileStream.command(&random)
            var bytes = WireFuzzTests.content(of: command)
            if number % 8 > 0 { HostileStream.damage(&bytes, &random) }
            guard let read = try? RemoteCommand(FrameReader(bytes)) else {
                refused += 1
                #expect(number % 8 > 0, "command \(number) was sound")
                continue
            }
            taken += 1
            if number % 8 == 0 { #expect(read == command, "command \(number)") }
            #expect(!read.arguments.contains { $0.contains(0) }, "command \(number)")
            let again = try RemoteCommand(FrameReader(WireFuzzTests.content(of: read)))
            #expect(again == read, "command \(number)")
        }
        #expect(taken > WireFuzzTests.streams / 8)
        #expect(refused > WireFuzzTests.streams / 8)
    }

    private static func content(of command: RemoteCommand) -> [UInt8] {
        command.frames().flatMap { $0.bytes.dropFirst(WireFormat.headSize + 1) }
    }

    /// Reads a stream like a client that made one request of each kind.
    private static func read(_ bytes: [UInt8], _ random: inout SplitMix64, _ number: Int) throws {
        let endpoint = try #require(try Endpoint(Array("far:/source".utf8)))
        var order = AnswerOrder(endpoint)
        let kinds: [WireFormat.RequestKind] = [
            .open, .rules, .scan, .attributes, .digest, .content, .content, .digests, .list, .snapshot,
        ]
        for kind in kinds { _ = order.add(kind) }
        var parser = FrameParser()
        var (ends, decoder, content) = ([UInt8](), EntryDecoder(), ReceivedContent(mostHoles: 1 << 30))
        // The second content is a delta without older content.
        var staged: [Int64: [UInt8]] = [:]
        var last: [UInt8] = []
        var written: Int64 = 0
        var rest = bytes[...]
        while !rest.isEmpty {
            // In pieces, as a pipe gives them.
            let piece = rest.prefix(Int(random.next() % 700) + 1)
            rest = rest.dropFirst(piece.count)
            piece.withUnsafeBytes { parser.append($0) }
            while let frame = try parser.next() {
                guard [.answer, .entries, .file, .data, .blocks, .failure].contains(frame.type) else {
                    continue
                }
                let kind = order.kind
                switch try order.take(frame) {
                // A part of a list, which is read as a manifest.
                case .entries where kind == .snapshot: break
                case .entries(var reader) where kind == .list:
                    while !reader.isAtEnd {
                        _ = try ListItem(&reader, after: [], isAtTop: true)
                    }
                case .entries(var reader):
                    while !reader.isAtEnd {
                        let entry = try decoder.next(&reader)
                        expectSound(decoder.path, entry, after: last, number)
                        last = decoder.path
                    }
                case .file(let payload):
                    try content.begin(payload)
                    staged = [:]
                case .blocks(let payload):
                    let blocks = try content.take(blocks: payload)
                    #expect(blocks.ranges.count <= BlockHashes.limit, "stream \(number)")
                case .data(let payload):
                    switch try content.take(payload, { false }) {
                    case .data(let offset, let data):
                        #expect(offset >= 0 && !data.isEmpty, "stream \(number)")
                        written += Int64(data.count)
                        staged[offset] = Array(data)
                    case .end(let blocks):
                        for range in blocks.ranges {
                            var bytes = [UInt8](repeating: 0, count: range.count)
                            for (offset, data) in staged where range.contains(offset) {
                                // The pieces of a whole file are not those of blocks.
                                let start = Int(offset - range.lowerBound)
                                let piece = data.prefix(bytes.count - start)
                                bytes.replaceSubrange(start..<start + piece.count, with: piece)
                            }
                            try content.add(bytes[...], at: range.lowerBound) { false }
                        }
                    }
                case .end(let piece, let isLast):
                    ends += piece
                    guard isLast else { continue }
                    defer { ends = [] }
                    try end(kind, ends, &content, number)
                    if kind == .content { content = ReceivedContent(isDelta: true, mostHoles: 1 << 30) }
                case .failure(let error): throw error
                }
            }
        }
        #expect(written <= Int64(bytes.count), "stream \(number)")
    }

    private static func end(
        _ kind: WireFormat.RequestKind?, _ bytes: [UInt8], _ content: inout ReceivedContent, _ number: Int
    ) throws {
        var reader = FrameReader(bytes)
        switch kind {
        case .open:
            let endpoint = try #require(try Endpoint(Array("far:/source".utf8)))
            expectSound(try OpenedTree(reader, HostileStream.selection, at: endpoint), number)
        case .rules: _ = try RemoteTree.rules(&reader)
        case .scan: _ = try reader.findings()
        case .attributes:
            let found = try found(reader) { (reader) throws(WireError) in
                try reader.extended(HostileStream.selection)
            }
            for attribute in found?.attributes ?? [] {
                let name = String(decoding: attribute.name, as: UTF8.self)
                #expect(name.hasPrefix("user.") || name.hasPrefix("system.posix_acl_"), "stream \(number)")
            }
        case .digest:
            _ = try found(reader) { (reader) throws(WireError) in try RemoteContent(&reader, as: .plain) }
        case .content:
            let file = try HostileStream.file("a")
            let copied = try content.end(bytes, file, HostileStream.selection) { false }
            #expect(copied.path == file.path && copied.isFile && copied.size >= 0, "stream \(number)")
        case .digests:
            _ = try reader.directoryDigest()
            _ = try reader.findings()
        case .list: _ = try reader.findings()
        case .snapshot:
            let asked = ["a", "b/*"].map { Array($0.utf8) }
            let end = try SnapshotEnd(reader, to: .init("latest", paths: asked, locks: false))
            #expect(
                end.paths.allSatisfy { "ab".utf8.contains($0.bytes[0]) },
                "stream \(number): \(end.paths)")
            #expect(
                (end.faults.lost + end.faults.replaced).allSatisfy { $0.code == .drift }, "stream \(number)")
        case .obstacles, nil: break
        }
    }

    private static func found<Value>(
        _ answer: FrameReader, _ read: (inout FrameReader) throws(WireError) -> Value
    ) throws -> Value? {
        do {
            return try RemoteReader.found(answer, #require(RelativePath("a")), read)
        } catch is SystemError {
            return nil
        }
    }

    /// One root without a name, or names in order that are valid in the target.
    private static func expectSound(_ opened: OpenedTree, _ number: Int) {
        var last: [UInt8]?
        for root in opened.roots {
            #expect(root.path.first == UInt8(ascii: "/") && !root.path.contains(0), "stream \(number)")
            guard let name = root.name.map({ Array($0.utf8) }) else {
                #expect(opened.roots.count == 1, "stream \(number)")
                continue
            }
            let isSound =
                PathRules.isName(name) && name.count <= 255
                && ![".fsync-lite", "lost+found"].contains { name.elementsEqual($0.utf8) }
            #expect(isSound, "stream \(number): \(name)")
            #expect(last.map { $0.lexicographicallyPrecedes(name) } ?? true, "stream \(number)")
            last = name
        }
        #expect(
            !opened.roots.isEmpty && !(opened.isJoined && opened.facts.hasDirectoryDigests),
            "stream \(number)")
    }

    /// Checks with its own code: each component in order, below a known directory.
    private static func expectSound(
        _ path: [UInt8], _ entry: EntryDecoder.Entry, after last: [UInt8], _ number: Int
    ) {
        let names = PathRules.names(of: path)
        for name in names {
            #expect(PathRules.isName(name) && name.count <= 255, "stream \(number): \(path)")
        }
        #expect(!(names.first?.elementsEqual(".fsync-lite".utf8) ?? true), "stream \(number)")
        #expect(PathRules.isAscending(last, path), "stream \(number): \(path)")
        let status = entry.status
        #expect(status.size >= 0 && status.allocated >= 0 && status.permissions <= 0o7777, "stream \(number)")
        #expect((0..<1_000_000_000).contains(status.modified.nanoseconds), "stream \(number)")
        #expect(status.type != .socket, "stream \(number)")
    }
}
