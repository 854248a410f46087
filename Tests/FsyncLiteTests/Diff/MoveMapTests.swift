import FileSystem
import Testing

@testable import FsyncLite

struct MoveMapTests {
    /// A directory that no match names moves with the one above. An object that must be at its path does not.
    @Test func whatNoMatchNamesMovesWithItsDirectory() {
        let moves = MoveMap(matching: ("d", "d/sub"))
        #expect(moves.newPath(of: path("d/sub")) == path("d/sub/sub"))
        #expect(moves.oldPath(of: path("d/sub/sub")) == path("d/sub"))
        #expect(!moves.isCarried(from: path("d/sub/entry"), to: path("d/sub/entry")))
    }

    /// Another directory comes to the path of the one above.
    @Test func whatStaysInAnotherDirectoryIsNotOneOfIts() {
        let moves = MoveMap(matching: ("new", "d"), ("d/sub", "d/sub"))
        #expect(moves.oldPath(of: path("d/sub")) == path("d/sub"))
        #expect(moves.oldPath(of: path("d/sub/inner")) == path("d/sub/inner"))
        #expect(moves.oldPath(of: path("d/other")) == path("new/other"))
    }
}

extension MoveMap {
    /// Matches directories: the target's at the first path, the source's at the second.
    fileprivate init(matching paths: (String, String)...) {
        var difference = Difference()
        for (old, new) in paths {
            let (source, target) = (file(new, 0, .directory), file(old, 0, .directory))
            difference.changes.append(.match(Match(source: source, target: target)))
        }
        self.init(difference)
    }
}
