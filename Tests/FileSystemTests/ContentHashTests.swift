import TestSupport
import Testing

@testable import FileSystem

/// Digests and comparisons of files with holes, on tmpfs. Reading 4 EiB would take centuries.
struct ContentHashTests {
    private static let huge: Int64 = 1 << 62

    private let files: TemporaryDirectory
    private let directory: Directory

    init() throws {
        files = try TemporaryDirectory(inMemory: true)
        directory = try files.open()
    }

    private func file(_ name: String, size: Int64) throws -> FileDescriptor {
        let file = try directory.open(
            #require(FileName(name.utf8)), [.readWrite, .create], permissions: 0o600)
        try file.truncate(to: 0)
        try file.truncate(to: size)
        return file
    }

    private func value(_ data: [UInt8], size: Int64? = nil, pieces: [Range<Int>]) -> SHA256.Value {
        var hash = ContentHash(.sparse)
        for piece in pieces where !piece.isEmpty {
            data[piece].withUnsafeBytes { hash.add($0, at: Int64(piece.lowerBound)) { false } }
        }
        return hash.value(upTo: size ?? Int64(data.count)) { false }
    }

    @Test func aFileHasTheDigestThatSha256sumPrints() throws {
        var random = SplitMix64(seed: 4)
        for size in [0, 1, 262_144, 262_145, 700_001] {
            let file = try file("file", size: Int64(size) + 5000)
            let bytes = (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            // A hole before the data, and one at the end.
            try file.write(bytes[...], at: 4096)
            try file.truncate(to: Int64(size) + 300_000)
            let printed = try HostCommand.output("sha256sum", "\(files.path)/file")
            #expect(printed.hasPrefix(SHA256Tests.digits(try file.digest())), "size \(size)")
        }
    }

    /// Zeros are data, a hole, or both, in pieces of any size.
    @Test func layoutAndPiecesDoNotMatter() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<60 {
            var data: [UInt8] = []
            var zeros: [Range<Int>] = []
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let start = data.count
                let isZero = Bool.random(using: &random)
                data += (0..<Int.random(in: 0...9000, using: &random)).map { _ in
                    isZero ? 0 : UInt8.random(in: 0...3, using: &random)
                }
                if isZero { zeros.append(start..<data.count) }
            }
            let whole = value(data, pieces: [0..<data.count])
            for _ in 0..<5 {
                var pieces: [Range<Int>] = []
                var start = 0
                while start < data.count {
                    let hole = zeros.first { $0.contains(start) && Bool.random(using: &random) }
                    let end =
                        hole?.upperBound ?? min(start + Int.random(in: 1...9000, using: &random), data.count)
                    if hole == nil { pieces.append(start..<end) }
                    start = end
                }
                #expect(value(data, pieces: pieces) == whole)
            }
            #expect(value(data, size: Int64(data.count) + 1, pieces: [0..<data.count]) != whole)
            guard let index = data.indices.randomElement(using: &random) else { continue }
            data[index] ^= 1
            #expect(value(data, pieces: [0..<data.count]) != whole)
        }
    }

    /// The same bytes, moved by a block or a byte.
    @Test func whereTheBytesAreMatters() {
        let bytes: [UInt8] = [1, 2, 3]
        let values = [0, 1, 4095, 4096].map { offset in
            value([UInt8](repeating: 0, count: offset) + bytes, size: 10_000, pieces: [offset..<offset + 3])
        }
        #expect(Set(values).count == 4)
    }

    @Test func holesAreNotRead() throws {
        let first = try file("first", size: Self.huge)
        let second = try file("second", size: Self.huge)
        // Each file has zeros where the other one has a hole.
        func fill(_ file: borrowing FileDescriptor, zerosAt zeros: Int64) throws {
            try file.write([UInt8](repeating: 7, count: 300_000)[...], at: 1 << 41)
            try file.write([UInt8](repeating: 0, count: 600_000)[...], at: zeros)
        }
        try fill(first, zerosAt: 1 << 40)
        try fill(second, zerosAt: 1 << 50)
        #expect(try FileComparison.haveSameContent(first, second))
        #expect(try first.digest(as: .sparse) == second.digest(as: .sparse))
        try second.write([1], at: 1 << 60)
        #expect(try !FileComparison.haveSameContent(first, second))
        #expect(try !FileComparison.haveSameContent(second, first))
        #expect(try FileComparison.haveSameContent(first, second, upTo: 1 << 60))
        #expect(try first.digest(as: .sparse) != second.digest(as: .sparse))
        #expect(try first.digest(as: .sparse, upTo: 1 << 60) == second.digest(as: .sparse, upTo: 1 << 60))
    }

    /// A local user can make such a file at no cost.
    @Test func zerosAreHashedOnlySoFar() throws {
        let file = try file("file", size: Self.huge)
        #expect(throws: Errno.overflow) { try file.digest(mostHoles: ContentHash.mostHoles) }
        var asked = 0
        #expect(throws: Errno.cancelled) {
            try file.digest {
                asked += 1
                return asked > 100
            }
        }
        #expect(SHA256Tests.digits(try file.digest(upTo: 0)) == SHA256Tests.digits(SHA256().finish()))
    }
}
