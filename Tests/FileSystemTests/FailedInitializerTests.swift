import FileSystem
import TestSupport
import Testing

/// A value whose initializer failed must not close a descriptor. It might belong to another part of the
/// program.
struct FailedInitializerTests {
    private let files: TemporaryDirectory
    private let directory: Directory

    init() throws {
        files = try TemporaryDirectory()
        directory = try Directory.open(path: Array(files.path.utf8))
    }

    /// Fails many times among many open descriptors. Each of these must still be the same file afterwards.
    private func expectNothingCloses(_ failing: () throws -> Void) throws {
        let own = try (0..<50).map { number in
            try directory.makeDirectory(FileName(number: number))
            return try directory.directory(FileName(number: number))
        }
        let before = try own.map { try $0.status().inode }
        for _ in 0..<100 { #expect(throws: SystemError.self) { try failing() } }
        #expect(try own.map { try $0.status().inode } == before)
        let open = try DirectoryListing.names(in: .open(path: Array("/proc/self/fd".utf8)))
        for standard in 0...2 { #expect(open.contains(FileName(number: standard))) }
    }

    @Test func ofAHandle() throws {
        try expectNothingCloses { _ = try ObjectHandle(FileName("missing"), in: directory) }
    }

    @Test func ofAFileInTheMaking() throws {
        let removed = FileName("removed")
        try directory.makeDirectory(removed)
        let gone = try directory.directory(removed)
        try directory.removeDirectory(removed)
        try expectNothingCloses { _ = try PendingFile(FileName("file"), in: gone) }
    }
}
