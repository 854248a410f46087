import Testing

@testable import FsyncLite

@Suite("Names that a target without case takes for one")
struct NameFoldingTests {
    private func collisions(
        _ names: [[UInt8]], _ kind: NameFolding.Kind = [.ofCase, .ofForms]
    ) throws -> [String] {
        var folding = try #require(NameFolding(kind))
        for path in try names.map({ try #require(RelativePath($0)) }).sorted() { folding.admit(path) }
        return folding.collisions.map { "\($0.0) \($0.1)" }
    }

    private func collisions(_ names: String...) throws -> [String] {
        try collisions(names.map { Array($0.utf8) })
    }

    @Test func caseTwins() throws {
        #expect(try collisions("A", "a", "b") == ["A a"])
        #expect(try collisions("STRASSE", "straße") == ["STRASSE straße"])
    }

    @Test func composedAndDecomposedForms() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(try collisions(composed, decomposed).count == 1)
    }

    @Test func onlyWhatTheTargetFolds() throws {
        let names = ["A", "a", "\u{E9}", "e\u{301}"].map { Array($0.utf8) }
        #expect(try collisions(names, .ofCase) == ["A a"])
        #expect(try collisions(names, .ofForms).count == 1)
        #expect(NameFolding([]) == nil)
    }

    @Test func onlyWithinOneDirectory() throws {
        #expect(try collisions("a", "a/B", "a/c", "b", "b/b", "c").isEmpty)
        #expect(try collisions("d", "d/x", "d/x/Y", "d/x/z", "d/y", "d/Y") == ["d/Y d/y"])
    }

    @Test func namesThatAreNoUTF8AreToldApart() throws {
        #expect(try collisions([[0xFF], [0xFE], [0xFF, 0x41], [0xFF, 0x61]]).isEmpty)
    }
}
