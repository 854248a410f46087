import FileStorage
import FileSystem
import Foundation
import TestNeeds
import TestSupport
import Testing

@testable import FsyncLite

/// Changes of the old tree after it was linked, which an exchange would lose.
struct LinkedExchangeTests {
    private let directory: TemporaryDirectory
    private let began: FileTime

    init() throws {
        directory = try TemporaryDirectory(inMemory: true)
        try (["d": ["f": "f"]] as TreeLiteral).build(at: "\(directory.path)/root")
        ClockTick.pass()
        began = .now
        ClockTick.pass()
    }

    private func check(comparesFiles: Bool, since began: FileTime? = nil) throws {
        try LinkedExchange.checkUnchanged(
            .open(path: Array("\(directory.path)/root".utf8)), since: began ?? self.began,
            comparesFiles: comparesFiles, SilentMonitor())
    }

    @Test func nothingIsLostWithoutAChange() throws {
        try check(comparesFiles: false)
        try check(comparesFiles: true)
    }

    /// Links move the change times of files. Clones do not.
    @Test func anEditStopsItWhereFilesAreCloned() throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: "\(directory.path)/root/d/f")
        try check(comparesFiles: false)
        #expect(throws: SyncError.self) { try check(comparesFiles: true) }
    }

    @Test(.needs(.mounts)) func aMountStopsIt() throws {
        try TestDisk.tmpfs(options: "size=1m").mounted(at: "\(directory.path)/root/d") {
            let error = #expect(throws: SyncError.self) {
                // The root of the mount is newer.
                try check(comparesFiles: false, since: FileTime.now.advanced(bySeconds: 60))
            }
            #expect(error?.code == .refused)
        }
    }
}
