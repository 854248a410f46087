import FileSystem
import Foundation
import TestSupport
import Testing

struct DirectoryListingTests {
    /// Names that differ before, at and after their eighth byte, or only in their length.
    @Test func namesAreSortedByTheirBytes() throws {
        let files = try TemporaryDirectory(inMemory: true)
        var names = [
            "a", "ab", "é", "~", "name123", "name1234", "name12345", "name1234é", "name12é", "name1234-",
            "...",
        ]
        names += (0..<300).map { "file-of-a-long-name-\($0 * 7919 % 300)" } + (0..<300).map { "\($0)" }
        for name in names { try Data().write(to: URL(fileURLWithPath: "\(files.path)/\(name)")) }
        let listing = try DirectoryListing(of: files.open())
        let listed = (0..<listing.count).map { Array(listing.name(at: $0)) }
        #expect(listed == names.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
        var path: [UInt8] = Array("d/".utf8)
        listing.append(1, to: &path)
        #expect(path == Array("d/".utf8) + listed[1])
    }
}
