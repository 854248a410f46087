import Testing

@testable import FsyncLite

struct PatternTests {
    private func matches(_ pattern: String, _ path: String, isDirectory: Bool = false) -> Bool {
        let bytes = Array(path.utf8)
        let name = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return IgnorePattern(Array(pattern.utf8)).matches(
            bytes.span, base: 0, name: name, isDirectory: isDirectory)
    }

    @Test(arguments: [
        ("a", "a"), ("a", "x/a"), ("/a", "a"), ("a/b", "a/b"), ("*.c", "x/y.c"), ("a*c", "x/abc"),
        ("/a/*", "a/b"),
        ("**/a", "a"), ("**/a", "x/y/a"), ("a/**", "a/b/c"), ("a/**/b", "a/b"), ("a/**/b", "a/x/y/b"),
        ("a/**/**/b", "a/b"), ("**", "x/y"), ("a**", "x/abc"), ("a/b**", "a/bc"), ("a/b**/c", "a/bd/c"),
        ("foo**/bar", "foo/bar"),
        ("a**\\/c", "a/c"), ("?", "x/a"), ("[a-c]", "b"), ("[!a-c]", "d"), ("[]]", "]"), ("[a-]", "-"),
        ("[[:upper:]]", "A"), ("\\!a", "!a"), ("\\#a", "#a"), ("\\*", "*"), ("#a", "#a"), ("a ", "a "),
        ("[[:]", ":"), ("[\\]]", "]"), ("*", "\n"), ("\u{E9}", "\u{E9}"),
    ])
    func matchesAsGit(_ pattern: String, _ path: String) {
        #expect(matches(pattern, path))
    }

    @Test(arguments: [
        ("/a", "x/a"), ("a/b", "x/a/b"), ("a*", "a/b"), ("/a/*", "a/b/c"), ("a/**", "a"), ("x/**/b", "a/x/b"),
        ("a/?b", "a//b"), ("a[/]b", "a/b"), ("a[!x]b", "a/b"), ("[b-a]", "a"), ("a/*.c", "a/b/x.c"),
        ("?", "\u{E9}"),
        ("\u{E9}", "e\u{301}"), ("A", "a"), ("a/b", "a/bc"), ("a/bc", "a/b"), ("**\\/a", "a"),
        ("x**y/b", "x/y/b"), ("foo**/bar", "foobar"), ("a/b**", "a/bc/d"), ("a/b**/c", "a/bc"),
    ])
    func doesNotMatchAsGit(_ pattern: String, _ path: String) {
        #expect(!matches(pattern, path))
    }

    @Test(arguments: [
        "", "!", "/", "//", "./a", "!./a", "../a", "a/./b", "a//b", "[a", "a[", "[[:alpha:]", "[[:nope:]]",
        "a\\", "a\\/", "[a\\", "[a-", "[]",
    ])
    func whatIsBrokenMatchesNothing(_ text: String) {
        let pattern = IgnorePattern(Array(text.utf8))
        #expect(!pattern.canMatch)
        for path in ["a", "[a", "a\\", "[", "[]", "a[", "x/a"] {
            #expect(!matches(text, path, isDirectory: true))
        }
    }

    @Test func aSlashAtTheEndMeansDirectories() {
        #expect(matches("a/", "x/a", isDirectory: true) && !matches("a/", "x/a"))
        #expect(matches("a/**/", "a/b", isDirectory: true) && !matches("a/**/", "a/b"))
    }

    /// Patterns that naive matchers need extremely long to refuse.
    @Test(arguments: [
        ("*a*a*a*a*a*a*a*a*[b]", String(repeating: "a", count: 200)),
        ("**/a/**/a/**/a/**/a/**/[b]", String(repeating: "a/", count: 200) + "a"),
        ("**/*a*a*a*/**/*a*a*a*/[b]", String(repeating: "aaaaaaaaaa/", count: 20) + "c"),
        ("**/*?*?*?*?/**/?*?*?*[b]", String(repeating: "aaaaaaaaaa/", count: 20) + "c"),
        ("**/**/**/**/**/**/**/[x]", String(repeating: "a/", count: 200) + "a"),
        ("*/*/*/*a*a*a*b/*", String(repeating: "aaaaaaaaaaaaaaaaaaaa/", count: 4) + "a"),
    ])
    func matchingIsNotExponential(_ pattern: String, _ path: String) throws {
        let wildcard = try #require(Wildcard(Array(pattern.utf8)[...]))
        var steps = 0
        #expect(!wildcard.matches(Array(path.utf8).span, from: 0, steps: &steps))
        let directories = path.utf8.count { $0 == UInt8(ascii: "/") } + 1
        #expect(steps <= pattern.utf8.count * path.utf8.count * directories)
        #expect(steps <= 20_000)
    }

    @Test func linesAreReadAsGitReadsThem() {
        let file = "\u{FEFF}a\r\n\r\n# no\n  \n\\#b\nc  \nd\\  \ne\t\n!f\r \ng\u{0}h\n \u{FEFF}\ni \\"
        var rules = FilterRules()
        rules.append(contentsOf: Array(file.utf8), path: Array("x".utf8))
        #expect(
            rules.rules.map(\.description) == [
                "a (x:1)", "\\\\#b (x:5)", "c (x:6)", "d\\\\  (x:7)", "e\\t (x:8)", "!f\\x0D (x:9)",
                "g (x:10)",
                " \u{FEFF} (x:11)", "i \\\\ (x:12)",
            ])
    }
}
