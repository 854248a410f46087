import FileSystem
import Testing

@testable import FsyncLite

/// Each of a file's times and numbers alone can show that it has changed.
struct FileIdentityTests {
    private static let seen = with(status(.file)) {
        ($0.inode, $0.created, $0.changed, $0.modified) = (7, seconds(1), seconds(2), seconds(3))
        ($0.size, $0.permissions, $0.owner, $0.group, $0.links) = (5, 0o644, 1, 2, 1)
    }

    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var isContent = false
        var isState = true
        var isAnother = false
        let make: @Sendable (inout FileStatus) -> Void
    }

    /// In reality, every change of a file moves its change time. Here each value changes alone.
    private static let changes: [Change] = [
        Change(testDescription: "another object", isAnother: true) { $0.inode = 8 },
        Change(testDescription: "the inode of a deleted one", isAnother: true) { $0.created = seconds(9) },
        Change(testDescription: "size", isContent: true) { $0.size = 6 },
        Change(testDescription: "modified", isContent: true) { $0.modified.nanoseconds = 1 },
        Change(testDescription: "changed", isState: false) { $0.changed.nanoseconds = 1 },
    ]

    @Test(arguments: changes) func eachChangeTells(change: Change) {
        let now = with(Self.seen, change.make)
        #expect(!now.isUnchanged(since: Self.seen) && Self.seen.isUnchanged(since: Self.seen))
        #expect(now.equals(Self.seen, in: .content) == !change.isContent)
        #expect(now.equals(Self.seen, in: [.state, .identity]) == !change.isState)
        #expect(now.equals(Self.seen, in: .state) == (!change.isState || change.isAnother))
    }

    /// A rename moves the change time. Nothing else may differ.
    @Test(
        arguments: [
            { $0.permissions = 0o600 }, { $0.owner = 9 }, { $0.group = 9 },
        ] as [@Sendable (inout FileStatus) -> Void])
    func attributesAreOfTheState(change: @Sendable (inout FileStatus) -> Void) {
        #expect(!with(Self.seen, change).equals(Self.seen, in: .state))
        #expect(with(Self.seen, change).equals(Self.seen, in: .content))
    }

    @Test func anotherTypeIsAnotherContent() {
        #expect(!with(Self.seen) { $0.type = .fifo }.equals(Self.seen, in: .content))
    }

    /// The size of a directory shows nothing.
    @Test func aDirectoryMayGrow() {
        let seen = with(Self.seen) { $0.type = .directory }
        #expect(with(seen) { $0.size = 6 }.equals(seen, in: [.state, .identity]))
    }
}
