import FileStorage
import FileSystem
import Foundation
import TestNeeds
import TestSupport
import Testing

@testable import FsyncLite

/// A state of another user, or one that others may write to, is refused before anything in it is used.
struct StateDirectoryTests {
    static let entries = [
        "", "/history", "/stage", "/trash", "/manifest.json", "/journal", "/mark", "/last-run",
    ]

    /// A state with one of its entries.
    private func state(with entry: String) throws -> (root: TemporaryDirectory, path: String) {
        let root = try TemporaryDirectory(inMemory: true)
        _ = try StateDirectory.make(in: root.open())
        let path = "\(root.path)/.fsync-lite\(entry)"
        if ["/history", "/stage", "/trash"].contains(entry) {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        } else if !entry.isEmpty {
            try Data("{}\n".utf8).write(to: URL(fileURLWithPath: path))
        }
        #expect(try StateDirectory(of: root.open()) != nil)
        return (root, path)
    }

    private func expectRefusal(of path: String, in root: TemporaryDirectory, _ text: String) {
        #expect {
            _ = try StateDirectory(of: root.open())
        } throws: {
            guard let error = $0 as? SyncError else { return false }
            return error.code == .refused && error.path == Array(path.utf8) && error.message.contains(text)
        }
    }

    @Test(.needs(.root), arguments: entries) func stateOfAnotherOwnerIsRefused(entry: String) throws {
        let (root, path) = try state(with: entry)
        try #require(chown(path, 4321, 0) == 0)
        expectRefusal(of: path, in: root, "it belongs to user 4321")
    }

    @Test(arguments: entries, [0o020, 0o002]) func stateThatOthersMayWriteToIsRefused(
        entry: String, bit: mode_t
    ) throws {
        let (root, path) = try state(with: entry)
        try #require(chmod(path, (entry.contains(".") ? 0o600 : 0o700) | bit) == 0)
        expectRefusal(of: path, in: root, "chmod go-w")
    }
}
