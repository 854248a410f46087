import FileSystem
import Foundation
import TestNeeds
import TestSupport
import Testing

struct FileCopierTests {
    private let files: TemporaryDirectory
    private let directory: Directory

    init() throws {
        files = try TemporaryDirectory(inMemory: true)
        directory = try files.open()
    }

    private func name(_ text: String) throws -> FileName { try #require(FileName(text.utf8)) }

    /// Copies a file of this size, with these bytes at each offset, and compares.
    private func copy(
        _ data: [(offset: Int, count: Int)], size: Int, keepsHoles: Bool = true, in directory: Directory
    ) throws -> (copy: FileStatus, isEqual: Bool, advanced: Int) {
        let source = try directory.open(name("source"), [.write, .create], permissions: 0o600)
        for (offset, count) in data {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: ($0 + offset) * 31 % 251 + 1) }
            try bytes.withUnsafeBytes { try source.write($0, at: Int64(offset)) }
        }
        try source.truncate(to: Int64(size))
        let target = try directory.open(name("target"), [.write, .create], permissions: 0o600)
        let from = try directory.open(name("source"), [.read])
        let status = try from.status()
        var copier = FileCopier()
        nonisolated(unsafe) var advanced = 0
        copier.advanced = { advanced += $0 }
        let copied = try copier.copy(
            from, to: target, size: status.size, allocated: status.allocated, keepsHoles: keepsHoles)
        #expect(copied == status.size.rawCount)
        let back = try directory.open(name("target"), [.read])
        return (try back.status(), try FileComparison.haveSameContent(from, back), advanced)
    }

    @Test(arguments: [0, 1, 4096, 256 * 1024, 256 * 1024 + 1, 3_000_001])
    func contentIsCopied(size: Int) throws {
        let (copy, isEqual, advanced) = try copy([(0, size)], size: size, in: directory)
        #expect(copy.size == ByteCount(clamping: size) && isEqual)
        #expect(advanced == size)
    }

    static let layouts: [[(offset: Int, count: Int)]] = [
        [], [(0, 4096)], [(1 << 20, 5000)], [(0, 1), (5 << 20, 1)], [(8 << 20 - 4096, 4096)],
    ]

    @Test(arguments: layouts) func holesStayHoles(data: [(offset: Int, count: Int)]) throws {
        let (copy, isEqual, _) = try copy(data, size: 8 << 20, in: directory)
        #expect(isEqual)
        #expect(copy.allocated < 1_048_576)
    }

    @Test func holesAreWrittenWhereTheyAreNotWanted() throws {
        let (copy, isEqual, _) = try copy([(0, 4096)], size: 1 << 20, keepsHoles: false, in: directory)
        #expect(isEqual)
        #expect(copy.allocated >= 1_048_576)
    }

    @Test(.needs(.btrfs)) func clonesShareTheirBlocks() throws {
        let disk = try TemporaryDirectory(inMemory: true)
        try TestDisk.btrfs.mounted(at: disk.path) {
            let (copy, isEqual, advanced) = try copy([(0, 1 << 20)], size: 1 << 20, in: disk.open())
            #expect(copy.size == 1_048_576 && isEqual && advanced == 0)
        }
    }

    @Test func copyEndsWhereItIsCancelled() throws {
        try Data(count: 1 << 20).write(to: URL(fileURLWithPath: "\(files.path)/source"))
        let source = try directory.open(name("source"), [.read])
        let target = try directory.open(name("target"), [.write, .create], permissions: 0o600)
        var copier = FileCopier()
        do throws(Errno) {
            _ = try copier.copy(
                source, to: target, size: 1_048_576, allocated: 1_048_576, isCancelled: { true })
            Issue.record("it was not cancelled")
        } catch {
            #expect(error == .cancelled)
        }
    }

    /// If the source has become shorter, the copy has no bytes in place of the lost ones.
    @Test func sourceThatShrankGivesWhatItHas() throws {
        try Data(count: 5000).write(to: URL(fileURLWithPath: "\(files.path)/source"))
        let source = try directory.open(name("source"), [.read])
        let target = try directory.open(name("target"), [.write, .create], permissions: 0o600)
        var copier = FileCopier()
        #expect(try copier.copy(source, to: target, size: 1_048_576, allocated: 1_048_576) == 5000)
    }
}
