import FileSystem
import Testing

@testable import FsyncLite

struct MoveMapTests {
    /// A directory that no match names goes where the one above goes, and what has to stand at its path does not.
    @Test func whatNoMatchNamesMovesWithItsDirectory() throws {
        func directory(_ text: String) throws -> File {
            File(
                path: try #require(RelativePath(text)),
                status: FileStatus(type: .directory, modified: FileTime(seconds: 1, nanoseconds: 0)),
                destination: [])
        }
        var difference = Difference()
        difference.matches.append(Match(source: try directory("d/sub"), target: try directory("d")))
        let moves = MoveMap(difference)
        let (inner, entry) = (try #require(RelativePath("d/sub")), try #require(RelativePath("d/sub/entry")))
        #expect(moves.newPath(of: inner)?.description == "d/sub/sub")
        #expect(!moves.isCarried(from: entry, to: entry))
    }
}
