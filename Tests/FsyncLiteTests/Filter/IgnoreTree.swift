import TestSupport

@testable import FsyncLite

/// A small tree with ignore files, in memory and on disk. It is the same for the same seed.
struct IgnoreTree {
    /// Directories and other entries.
    var directories: Set<[UInt8]> = []
    var others: Set<[UInt8]> = []
    /// By the directory that contains it.
    var ignoreFiles: [[UInt8]: [UInt8]] = [:]

    var paths: [[UInt8]] { Array(directories.union(others)) }

    static let ignoreFileName = Array(".gitignore".utf8)

    /// The input of `FilterScope`.
    func contents(_ directory: RelativePath) -> FilterDirectory {
        FilterDirectory(ignoreFile: ignoreFiles[directory.bytes])
    }

    func build(at root: String) throws {
        try TreeLiteral.directory([:]).build(at: root)
        let base = Array(root.utf8) + [UInt8(ascii: "/")]
        for path in directories.sorted(by: { $0.count < $1.count }) {
            try TreeLiteral.directory([:]).build(at: base + path)
        }
        for path in others { try TreeLiteral.file("").build(at: base + path) }
        for (directory, content) in ignoreFiles {
            let path =
                base + directory + (directory.isEmpty ? [] : [UInt8(ascii: "/")]) + IgnoreTree.ignoreFileName
            try TreeLiteral.file(content, mode: 0o644, modified: nil).build(at: path)
        }
    }

    func decision(_ path: [UInt8], _ filters: Filters) throws -> FilterDecision {
        filters.explain(
            RelativePath(validated: path), type: directories.contains(path) ? .directory : .file, size: 0,
            reading: contents)
    }

    static func filters() -> Filters {
        var filters = Filters()
        _ = filters.setIgnoreFile(named: ignoreFileName)
        return filters
    }
}

// MARK: Random trees and patterns

extension IgnoreTree {
    private static let names: [[UInt8]] =
        [
            "a", "b", "ab", "ba", "abc", "a.c", "b.c", "a.b.c", "foo", "foo.c", "x1", " a", "a ", "#a", "!a",
            "[a]",
            "*", "a*", "\\a", "-", "\u{E9}", "a\n", "A", "aab", "a-b", "c",
        ].map { Array($0.utf8) } + [[0xFF], [0x61, 0xC3]]

    private static let pieces: [[UInt8]] =
        [
            "a", "a", "b", "b", "c", ".c", "foo", "x1", "A", "*", "*", "*", "**", "?", "/", "/", "/", "**/",
            "/**/",
            "/**", "***", "[ab]", "[!a]", "[^b]", "[a-c]", "[c-a]", "[[:alpha:]]", "[[:digit:]]",
            "[[:alpha:]-z]",
            "[![:space:]]", "[[:nope:]]", "[[:alpha:]", "[[:]", "[]a]", "[!]a]", "[a", "[", "]", "\\", "\\*",
            "\\/",
            "\\a", "\\[", "[\\]]", "[a\\-c]", "[--0]", "[+--]", "[a-]", "[*]", "[a/b]", "[^/]", "[\\", " ",
            "\\ ", "!",
            "#", "-", "\u{E9}", "\t", "**\\/", "[!-/]", "[.-\\]]", "[a-\\c]",
        ].map { Array($0.utf8) } + [
            [0xFF], [0xC3], [UInt8(ascii: "["), 0x80, UInt8(ascii: "-"), 0xFF, UInt8(ascii: "]")],
        ]

    static func name(_ random: inout SplitMix64) -> [UInt8] { names.randomElement(using: &random) ?? [] }

    static func pattern(_ random: inout SplitMix64) -> [UInt8] {
        var pattern: [UInt8] =
            random.oneIn(4) ? [UInt8(ascii: "!")] : random.oneIn(6) ? [UInt8(ascii: "/")] : []
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            pattern += random.oneIn(3) ? name(&random) : pieces.randomElement(using: &random) ?? []
        }
        if random.oneIn(5) { pattern.append(UInt8(ascii: "/")) }
        return asGitReadsIt(pattern)
    }

    /// Git before 2.53 reads `**` after a text without wildcard as the start of a path (commit 1940a02dc1).
    /// For such a git, one star is used instead.
    private static func asGitReadsIt(_ pattern: [UInt8]) -> [UInt8] {
        var pattern = pattern.filter { $0 != UInt8(ascii: "\n") }
        guard GitCheckIgnore.forgetsPrefix else { return pattern }
        let start = pattern.first == UInt8(ascii: "!") ? 1 : 0
        let star = UInt8(ascii: "*")
        guard let wildcard = pattern[start...].firstIndex(where: { "*?[\\".utf8.contains($0) }),
            pattern[wildcard] == star, wildcard > start, pattern[wildcard - 1] != UInt8(ascii: "/")
        else { return pattern }
        while wildcard + 1 < pattern.count, pattern[wildcard + 1] == star { pattern.remove(at: wildcard) }
        return pattern
    }

    /// A pattern of names that trees have, with some wildcards.
    static func likelyPattern(_ random: inout SplitMix64) -> [UInt8] {
        var pattern = Array((random.oneIn(4) ? "!" : "").utf8) + Array((random.oneIn(4) ? "/" : "").utf8)
        for number in 0..<Int.random(in: 1...5, using: &random) / 2 + 1 {
            if number > 0 { pattern.append(UInt8(ascii: "/")) }
            if random.oneIn(6) { pattern += Array("**/".utf8) }
            let name = name(&random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: pattern += Array("*".utf8)
            case 1: pattern += name.dropFirst() + Array("**".utf8)
            case 2: pattern += Array("*".utf8) + name.dropFirst()
            case 3: pattern += name.dropLast() + Array("*".utf8)
            case 4: pattern += name.dropLast() + Array("?".utf8)
            case 5: pattern += Array("[".utf8) + name + Array("]*".utf8)
            case 6: pattern += Array("[!b]*".utf8)
            default:
                pattern += name.flatMap { "*?[\\!#".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
            }
        }
        pattern += Array(["", "", "/", "/**"].randomElement(using: &random)!.utf8)
        return asGitReadsIt(pattern)
    }

    /// A path that the pattern probably matches: its wildcards are filled in.
    static func path(like pattern: [UInt8], _ random: inout SplitMix64) -> [UInt8]? {
        var path: [UInt8] = []
        var index = pattern.first == UInt8(ascii: "!") ? 1 : 0
        let filler = Array("aabbc.x1// -A".utf8)
        while index < pattern.count {
            let byte = pattern[index]
            index += 1
            switch byte {
            case UInt8(ascii: "*"):
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    path.append(filler.randomElement(using: &random)!)
                }
            case UInt8(ascii: "?"):
                path.append(filler.randomElement(using: &random)!)
            case UInt8(ascii: "["):
                if let close = pattern[index...].dropFirst().firstIndex(of: UInt8(ascii: "]")) {
                    path.append((pattern[index..<close] + filler).randomElement(using: &random)!)
                    index = close + 1
                }
            case UInt8(ascii: "\\"):
                break
            default:
                if !random.oneIn(40) { path.append(byte) }
            }
        }
        if random.oneIn(5) { path = name(&random) + [UInt8(ascii: "/")] + path }
        if random.oneIn(5) { path += [UInt8(ascii: "/")] + name(&random) }
        let components = path.split(separator: UInt8(ascii: "/"))
            .filter {
                !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
                    && !$0.elementsEqual(".gitignore".utf8)
            }
        path = Array(components.joined(separator: [UInt8(ascii: "/")]))
        return path.isEmpty ? nil : path
    }

    /// An ignore file with the oddities of real files.
    static func ignoreFile(_ lines: Int, _ random: inout SplitMix64) -> [UInt8] {
        var file: [UInt8] = random.oneIn(8) ? [0xEF, 0xBB, 0xBF] : []
        for _ in 0..<lines {
            let pattern = random.oneIn(3) ? pattern(&random) : likelyPattern(&random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: file += Array("# comment".utf8)
            case 1: break
            case 2: file += pattern + Array("  ".utf8)
            case 3: file += pattern + Array("\\  ".utf8)
            case 4: file += pattern + [0] + name(&random)
            default: file += pattern
            }
            if random.oneIn(6) { file.append(UInt8(ascii: "\r")) }
            file.append(UInt8(ascii: "\n"))
        }
        if random.oneIn(3), !file.isEmpty { file.removeLast() }
        return file
    }

    init(seed: UInt64, entries: Int) {
        var random = SplitMix64(seed: seed)
        ignoreFiles[[]] = IgnoreTree.ignoreFile(Int.random(in: 1...6, using: &random), &random)
        var open: [[UInt8]] = [[]]
        while directories.count + others.count < entries {
            let parent = open.randomElement(using: &random) ?? []
            let path = parent + (parent.isEmpty ? [] : [UInt8(ascii: "/")]) + IgnoreTree.name(&random)
            guard !directories.contains(path), !others.contains(path) else {
                if open.count < 3, random.oneIn(50) { break }
                continue
            }
            if open.count < 4 || random.oneIn(3) {
                directories.insert(path)
                open.append(path)
                guard random.oneIn(3) else { continue }
                ignoreFiles[path] = IgnoreTree.ignoreFile(Int.random(in: 0...4, using: &random), &random)
            } else {
                others.insert(path)
            }
        }
    }
}
