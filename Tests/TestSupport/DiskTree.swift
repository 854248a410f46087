import Glibc

/// A real tree that grows and changes at random, in the same way for the same seed.
///
/// It shares no code with the tool. Names, types, modes and times have few values, so that many collide.
package struct DiskTree {
    private let root: [UInt8]
    private var random: SplitMix64

    /// NFC and NFD, invalid UTF-8, and characters that sort around `/`.
    private static let names: [[UInt8]] =
        ["a", "b", "c", "a b", "a.b", "a-b", "\u{E9}", "e\u{301}", "a\n", "~", "A"].map { Array($0.utf8) } + [
            [0xFF, 0x80]
        ]
    private static let times = [
        TreeTime(1_600_000_000, 1), TreeTime(1_600_000_000, 2), TreeTime(-7, 999_999_999),
    ]

    package init(_ path: String, seed: UInt64) throws {
        root = Array(path.utf8)
        random = SplitMix64(seed: seed)
        try TreeLiteral.directory([:]).build(at: path)
    }

    /// For a tree that exists.
    package init(at path: String, seed: UInt64) {
        root = Array(path.utf8)
        random = SplitMix64(seed: seed)
    }

    /// Adds entries at free names.
    package mutating func grow(_ count: Int) throws {
        for _ in 0..<count { try create() }
    }

    /// Changes the tree in as many ways.
    package mutating func change(_ count: Int) throws {
        for _ in 0..<count {
            switch Int.random(in: 0..<14, using: &random) {
            case 0, 1, 2: try move()
            case 3, 4: try swap()
            case 5: try edit(inSecret: true)
            case 6: try edit(inSecret: false)
            case 7: try setMode()
            case 8: try setTime()
            case 9: if let victim = try pick() { try remove(victim) }
            case 10:
                // An object of another type in its place.
                if let victim = try pick() {
                    try remove(victim)
                    try make(victim)
                }
            case 11: try cycle()
            default: try create()
            }
        }
    }

    /// Changes entries by hand: in two trees with the same names, in the same way.
    package mutating func drift(_ count: Int) throws {
        for _ in 0..<count {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: try edit(inSecret: true)
            case 1: try setMode()
            default: if let victim = try pick() { try remove(victim) }
            }
        }
    }

    /// Adds a name to a file, if the chosen name is free.
    package mutating func link() throws {
        let files = try paths().filter { isFile($0) }
        let goal = try place()
        guard let path = files.randomElement(using: &random), status(goal) == nil else { return }
        guard Glibc.link(terminated(path), terminated(goal)) == 0 else { throw TreeError("link", path) }
    }

    // MARK: Entries

    /// Every path below the root, sorted.
    private func paths(onlyDirectories: Bool = false) throws -> [[UInt8]] {
        try TreeSnapshot(String(decoding: root, as: UTF8.self)).entries
            .filter { $0.key != [UInt8(ascii: ".")] && (!onlyDirectories || $0.value.type == "d") }
            .map(\.key).sorted { $0.lexicographicallyPrecedes($1) }
    }

    private mutating func pick() throws -> [UInt8]? { try paths().randomElement(using: &random) }

    /// A path that may be free, in any directory that is not too deep.
    private mutating func place() throws -> [UInt8] {
        let directories = try paths(onlyDirectories: true).filter { $0.count { $0 == UInt8(ascii: "/") } < 3 }
        let name = DiskTree.names.randomElement(using: &random) ?? []
        let index = Int.random(in: 0...directories.count, using: &random)
        return index == directories.count ? name : directories[index] + [UInt8(ascii: "/")] + name
    }

    private func full(_ path: [UInt8]) -> [UInt8] { root + [UInt8(ascii: "/")] + path }
    private func terminated(_ path: [UInt8]) -> [CChar] { full(path).map { CChar(bitPattern: $0) } + [0] }

    private func status(_ path: [UInt8]) -> stat? {
        var status = stat()
        return lstat(terminated(path), &status) == 0 ? status : nil
    }

    private func isDirectory(_ path: [UInt8]) -> Bool {
        status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }
    private func isFile(_ path: [UInt8]) -> Bool {
        status(path).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
    }

    private func isBelow(_ path: [UInt8], _ other: [UInt8]) -> Bool {
        path.starts(with: other + [UInt8(ascii: "/")])
    }

    // MARK: Changes

    private mutating func create() throws {
        let path = try place()
        if status(path) == nil { try make(path) }
    }

    private mutating func make(_ path: [UInt8]) throws {
        let time = Bool.random(using: &random) ? DiskTree.times.randomElement(using: &random) : nil
        let letter = UInt8.random(in: UInt8(ascii: "A")...UInt8(ascii: "F"), using: &random)
        let node: TreeLiteral =
            switch Int.random(in: 0..<10, using: &random) {
            case 0, 1, 2: .directory([], mode: 0o755, modified: time)
            case 3: .symlink([letter], modified: time)
            case 4: .fifo(mode: 0o644, modified: time)
            default: .file([letter, letter, letter], mode: 0o644, modified: time)
            }
        try node.build(at: full(path))
    }

    private mutating func move() throws {
        guard let from = try pick() else { return }
        let goal = try place()
        guard from != goal, !isBelow(goal, from), !isBelow(from, goal) else { return }
        if status(goal) != nil { try remove(goal) }
        try rename(from, goal)
    }

    private mutating func swap() throws {
        guard let first = try pick(), let second = try pick(), first != second, !isBelow(first, second),
            !isBelow(second, first)
        else { return }
        let aside = Array("aside".utf8)
        try rename(first, aside)
        try rename(second, first)
        try rename(aside, second)
    }

    private mutating func cycle() throws {
        let top = try paths().filter { !$0.contains(UInt8(ascii: "/")) }.shuffled(using: &random)
        guard top.count >= 3 else { return }
        let aside = Array("aside".utf8)
        try rename(top[0], aside)
        try rename(top[1], top[0])
        try rename(top[2], top[1])
        try rename(aside, top[2])
    }

    private mutating func edit(inSecret isSecret: Bool) throws {
        guard let path = try paths().filter({ isFile($0) }).randomElement(using: &random),
            let old = status(path)
        else { return }
        let letter = UInt8.random(in: UInt8(ascii: "G")...UInt8(ascii: "Z"), using: &random)
        let descriptor = open(terminated(path), O_WRONLY | O_CLOEXEC | (isSecret ? 0 : O_APPEND))
        guard descriptor >= 0 else { throw TreeError("open", path) }
        defer { close(descriptor) }
        guard write(descriptor, [letter], 1) == 1 else { throw TreeError("write", path) }
        if isSecret, old.st_size > 0 { try TreeTime(old.st_mtim).set(on: full(path)) }
    }

    private mutating func setMode() throws {
        let modes: [UInt32] = [0o700, 0o755, 0o555, 0o777]
        guard let path = try pick(), let old = status(path), old.st_mode & S_IFMT != S_IFLNK,
            let mode = modes.randomElement(using: &random)
        else { return }
        guard chmod(terminated(path), mode) == 0 else { throw TreeError("chmod", path) }
    }

    private mutating func setTime() throws {
        guard let path = try pick(), let time = DiskTree.times.randomElement(using: &random) else { return }
        try time.set(on: full(path))
    }

    private func remove(_ path: [UInt8]) throws {
        let victims = try paths().filter { isBelow($0, path) } + [path]
        for victim in victims.sorted(by: { $0.count > $1.count }) {
            let result = isDirectory(victim) ? rmdir(terminated(victim)) : unlink(terminated(victim))
            guard result == 0 else { throw TreeError("remove", victim) }
        }
    }

    private func rename(_ from: [UInt8], _ goal: [UInt8]) throws {
        guard Glibc.rename(terminated(from), terminated(goal)) == 0 else { throw TreeError("rename", from) }
    }
}
