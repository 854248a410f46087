import FileSystem
import Foundation
import TestSupport
import Testing

struct DirectoryTests {
    @Test func lockIsReleasedThoughAChildHasTheDescriptor() throws {
        let files = try TemporaryDirectory()
        let duplicate = try {
            let directory = try files.open()
            try directory.lock()
            #expect(throws: SystemError.self) { try files.open().lock() }
            return try #require(descriptors(of: files.path).map { dup($0) }.first)
        }()
        defer { close(duplicate) }
        try files.open().lock()
    }

    private func descriptors(of path: String) throws -> [Int32] {
        let own = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: own).filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(own)/\($0)")) == path
        }.compactMap { Int32($0) }
    }
}
