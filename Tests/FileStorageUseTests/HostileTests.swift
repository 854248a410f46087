import FileStorage
import Foundation
import Glibc
import Testing

struct HostileTests {
    private let scratch: Scratch
    private var root: LocalFile { scratch.directory }
    init() throws { scratch = try Scratch() }

    private static let isRoot = geteuid() == 0

    @Test(.enabled(if: isRoot)) func otherUserReadsWhereNothingCanBeListed() async throws {
        let directory = root + "d"
        try (directory + "f").replace(with: Data("x".utf8), permissions: 0o644)
        #expect(chmod(directory.path, 0o711) == 0 && chmod(root.path, 0o711) == 0)
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            #expect(setgid(65534) == 0 && setuid(65534) == 0)
            let text = try (LocalFile(path) + "f").text()
            #expect(text == "x")
        }
    }

    @Test(.enabled(if: isRoot)) func otherUserWritesIntoADropBox() async throws {
        let box = root + "box"
        try box.makeDirectory()
        #expect(chmod(box.path, 0o733) == 0 && chmod(root.path, 0o711) == 0)
        await #expect(processExitsWith: .success) { [path = box.path as String] in
            #expect(setgid(65534) == 0 && setuid(65534) == 0)
            try (LocalFile(path) + "f").replace(withText: "x")
            try (LocalFile(path) + "log").append("x")
        }
        #expect(try (box + "f").text() == "x")
        #expect(try box.children.map(\.name) == ["f", "log"])
    }

    @Test func fileLargerThanMemoryIsAnError() throws {
        let file = root + "sparse"
        try file.append("x")
        guard truncate(file.path, 15 << 40) == 0 else { return }
        #expect { try file.data() } throws: { ($0 as? SyncError)?.errno == ENOMEM }
    }

    @Test func fullDiskAppendLeavesNoHalfLine() async throws {
        let file = root + "log"
        try file.append("one\n")
        try (root + "f").replace(withText: "old")
        await #expect(processExitsWith: .success) { [path = root.path as String] in
            var limit = rlimit(rlim_cur: 10, rlim_max: 10)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            for name in ["log", "new"] {
                do throws(SyncError) {
                    try (LocalFile(path) + name).append("a line that does not fit\n")
                    exit(1)
                } catch {
                    guard error.errno == EFBIG else { exit(2) }
                }
            }
            do throws(SyncError) {
                try (LocalFile(path) + "f").replace(withText: "what does not fit")
                exit(3)
            } catch {
                guard error.errno == EFBIG else { exit(4) }
            }
        }
        #expect(try file.text() == "one\n")
        #expect(try (root + "f").text() == "old")
    }

    @Test func keysAndNamesStayInTheDirectory() throws {
        let storage = try DiskStorage(in: root + "d")
        for key in ["..", "/etc/passwd", "", "a\0b", "../x", "a/b"] {
            #expect(throws: StorageError.self) { try storage.store(Data(), for: key) }
        }
        #expect(try root.children == [root + "d"])
        #expect { try (root + "x").replace(withText: "\u{e9}", encoding: .ascii) } throws: {
            "\($0)".contains("x: the encoding")
        }
    }
}
