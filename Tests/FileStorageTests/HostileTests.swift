import FileStorage
import Foundation
import TestSupport
import Testing

struct HostileTests {
    private let temporary = try! TemporaryDirectory()
    private var root: LocalFile { temporary.file }

    private static let isRoot = geteuid() == 0

    @Test(.enabled(if: isRoot)) func otherUserReadsWhereNothingCanBeListed() throws {
        let directory = root + "d"
        try (directory + "f").replace(with: Data("x".utf8), permissions: 0o644)
        #expect(chmod(directory.path, 0o711) == 0 && chmod(root.path, 0o711) == 0)
        #expect(try SpawnedProcess(child: "read-as-nobody", directory).wait() == 0)
    }

    @Test(.enabled(if: isRoot)) func otherUserWritesIntoADropBox() throws {
        let box = root + "box"
        try box.makeDirectory()
        #expect(chmod(box.path, 0o733) == 0 && chmod(root.path, 0o711) == 0)
        #expect(try SpawnedProcess(child: "write-as-nobody", box).wait() == 0)
        #expect(try (box + "f").text() == "x")
        #expect(try box.children.map(\.name) == ["f", "log"])
    }

    @Test(.enabled(if: isRoot)) func closedDirectoryIsAnErrorWithItsReason() throws {
        try (root + "f").replace(with: Data("x".utf8), permissions: 0o644)
        #expect(chmod(root.path, 0o700) == 0)
        #expect(try SpawnedProcess(child: "read-is-denied", root).wait() == 0)
        #expect(chmod(root.path, 0o755) == 0)
        #expect(try SpawnedProcess(child: "write-is-denied", root).wait() == 0)
        #expect(try (root + "f").text() == "x")
        #expect(try root.children.map(\.name) == ["f"])
    }

    @Test func fullDiskLeavesNoHalfLineAndTheOldContent() throws {
        let file = root + "log"
        try file.append("one\n")
        try (root + "f").replace(withText: "old")
        #expect(try SpawnedProcess(child: "write-to-full-disk", root).wait() == 0)
        #expect(try file.text() == "one\n")
        #expect(try (root + "f").text() == "old")
        #expect(try (root + "new").size == 0)
        #expect(try root.children.map(\.name) == ["f", "log", "new"])
    }

    /// Looks at each file while another process replaces it. A file that is open once can be read later.
    @Test func secretIsNeverReadableByOthers() throws {
        let child = try SpawnedProcess(child: "replace-secret", root)
        var seen = 0
        repeat {
            for file in try root.children {
                guard let permissions = try? file.permissions else { continue }
                #expect(permissions & 0o077 == 0)
                seen += 1
            }
        } while child.isRunning
        #expect(child.wait() == 0)
        #expect(seen > 0)
    }

    @Test func killedWriterLeavesTheOldValueWholeAndNothingElse() throws {
        let child = try SpawnedProcess(child: "store-for-ever", root)
        while try !(root + "k").exists { sched_yield() }
        child.send(SIGKILL)
        _ = child.wait()
        let storage = try DiskStorage(in: root)
        let value = try storage.data(for: "k")
        #expect(value.count == 1 << 22 && Set(value).count == 1)
        #expect(try root.children.map(\.name) == ["k"])
    }

    @Test(.enabled(if: isRoot)) func noHomeIsAnError() throws {
        #expect(try SpawnedProcess(child: "no-home", root).wait() == 0)
    }

    @Test func namesThatAreNotUTF8AreInNoStorage() throws {
        try LocalFile(bytes: root.bytes + [UInt8(ascii: "/"), 0xFF]).replace(withText: "x")
        let storage = try DiskStorage(in: root)
        try storage.store(Data(), for: "k")
        #expect(try storage.keys() == ["k"])
    }

    @Test func fileLargerThanMemoryIsAnError() throws {
        let file = root + "sparse"
        try file.append("x")
        guard truncate(file.path, 15 << 40) == 0 else { return }
        #expect { try file.data() } throws: { ($0 as? SyncError)?.errno == ENOMEM }
    }

    @Test func whatIsNoRegularFileIsAnErrorWithItsPath() throws {
        try (root + "other").replace(withText: "x")
        #expect(symlink("other", (root + "link").path) == 0 && symlink("gone", (root + "dangling").path) == 0)
        #expect(mkfifo((root + "fifo").path, 0o600) == 0)
        try (root + "directory").makeDirectory()
        let storage = try DiskStorage(in: root)
        for key in ["link", "dangling", "fifo", "directory"] {
            #expect { try storage.data(for: key) } throws: {
                guard case .cannotRead(key, let cause)? = $0 as? StorageError else { return false }
                return "\(cause)".contains((root + key).path)
            }
            #expect(try !storage.contains(key))
        }
        #expect(try (root + "link").text() == "x")
        for name in ["dangling", "fifo", "directory"] {
            #expect { try (root + name).text() } throws: { "\($0)".contains((root + name).path) }
        }
        #expect(throws: SyncError.self) { try (root + "fifo").append("y") }
        #expect(throws: SyncError.self) { try (root + "fifo").copy(to: root + "copy") }
        #expect(throws: SyncError.self) { try (root + "directory").append("y") }
        #expect(throws: SyncError.self) { try (root + "directory").replace(withText: "y") }
        #expect(try storage.keys() == ["other"])
        #expect(try (root + "other").data(limit: 1).count == 1)
        #expect { try (root + "other").data(limit: 0) } throws: { ($0 as? SyncError)?.errno == EFBIG }
    }
}
