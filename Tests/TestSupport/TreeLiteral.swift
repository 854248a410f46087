import Glibc

/// A tree as a literal, to be built on disk:
///
///     ["a.txt": "hello", "photos": ["x.jpg": .file("…", mode: 0o600)], "latest": .symlink("photos"), "p": .fifo()]
///
/// It shares no code with the tool that it tests.
package indirect enum TreeLiteral: Sendable {
    case file([UInt8], mode: UInt32, modified: TreeTime?)
    case directory([(name: TreeName, node: TreeLiteral)], mode: UInt32, modified: TreeTime?)
    case symlink([UInt8], modified: TreeTime?)
    case fifo(mode: UInt32, modified: TreeTime?)

    package static func file(_ content: String, mode: UInt32 = 0o644, modified: TreeTime? = nil)
        -> TreeLiteral
    {
        .file(Array(content.utf8), mode: mode, modified: modified)
    }

    package static func directory(
        _ children: KeyValuePairs<TreeName, TreeLiteral>, mode: UInt32 = 0o755, modified: TreeTime? = nil
    ) -> TreeLiteral {
        .directory(children.map { ($0.key, $0.value) }, mode: mode, modified: modified)
    }

    /// A directory with a file for each number, such as `file 7` with `text 7`.
    package static func files(_ numbers: Range<Int>, _ text: String) -> TreeLiteral {
        .files(numbers, named: "file ") { "\(text) \($0)" }
    }

    /// A directory with a file for each number.
    package static func files(
        _ numbers: Range<Int>, named prefix: String = "", _ content: (Int) -> String = { "\($0)" }
    ) -> TreeLiteral {
        .directory(
            numbers.map { (TreeName(stringLiteral: "\(prefix)\($0)"), .file(content($0))) }, mode: 0o755,
            modified: nil)
    }

    /// The content of a state with a staged transaction.
    package static func staged(_ transaction: TreeLiteral, _ id: String) -> TreeLiteral {
        let stage = TreeLiteral.directory([TreeName(stringLiteral: id): transaction], mode: 0o700)
        return .directory(["stage": stage, "history": .directory([:], mode: 0o700)], mode: 0o700)
    }

    package static func symlink(_ destination: TreeName, modified: TreeTime? = nil) -> TreeLiteral {
        .symlink(destination.bytes, modified: modified)
    }

    package static func fifo(mode: UInt32 = 0o644) -> TreeLiteral {
        .fifo(mode: mode, modified: nil)
    }
}

extension TreeLiteral: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    package init(stringLiteral content: String) {
        self = .file(content)
    }

    package init(dictionaryLiteral elements: (TreeName, TreeLiteral)...) {
        self = .directory(elements.map { ($0, $1) }, mode: 0o755, modified: nil)
    }
}

/// A name, or a destination: bytes.
package struct TreeName: Sendable, ExpressibleByStringLiteral, Hashable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package init(stringLiteral text: String) {
        bytes = Array(text.utf8)
    }
}

/// A modification time.
package struct TreeTime: Sendable, Hashable, CustomStringConvertible {
    package var seconds: Int
    package var nanoseconds: Int

    package init(_ seconds: Int, _ nanoseconds: Int = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    package init(_ time: timespec) {
        self.init(time.tv_sec, time.tv_nsec)
    }

    package var description: String {
        let digits = String(nanoseconds)
        return "\(seconds)." + String(repeating: "0", count: 9 - digits.count) + digits
    }
}

/// A failed call while a tree was built or read.
package struct TreeError: Error, CustomStringConvertible {
    package let description: String

    package init(_ call: String, _ path: String) { self.init(call, Array(path.utf8)) }

    init(_ call: String, _ path: [UInt8]) {
        description = "\(call) \(String(decoding: path, as: UTF8.self)): \(String(cString: strerror(errno)))"
    }
}

// MARK: Building

extension TreeLiteral {
    /// Makes the tree at a path. An existing directory is filled.
    package func build(at path: String) throws {
        try build(at: Array(path.utf8))
    }

    package func build(at path: [UInt8]) throws {
        let name = path.map { CChar(bitPattern: $0) } + [0]
        switch self {
        case .file(let content, let mode, let modified):
            let descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw TreeError("open", path) }
            defer { close(descriptor) }
            guard write(descriptor, content, content.count) == content.count else {
                throw TreeError("write", path)
            }
            guard fchmod(descriptor, mode) == 0 else { throw TreeError("fchmod", path) }
            try modified?.set(on: path)
        case .directory(let children, let mode, let modified):
            guard mkdir(name, 0o700) == 0 || errno == EEXIST else { throw TreeError("mkdir", path) }
            for (child, node) in children { try node.build(at: path + [UInt8(ascii: "/")] + child.bytes) }
            guard chmod(name, mode) == 0 else { throw TreeError("chmod", path) }
            try modified?.set(on: path)
        case .symlink(let destination, let modified):
            guard Glibc.symlink(destination.map { CChar(bitPattern: $0) } + [0], name) == 0 else {
                throw TreeError("symlink", path)
            }
            try modified?.set(on: path)
        case .fifo(let mode, let modified):
            guard mkfifo(name, 0o600) == 0, chmod(name, mode) == 0 else { throw TreeError("mkfifo", path) }
            try modified?.set(on: path)
        }
    }
}

extension TreeTime {
    /// Sets it on a file, or on a symlink itself.
    package func set(on path: String) throws {
        try set(on: Array(path.utf8))
    }

    package func set(on path: [UInt8]) throws {
        var times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: nanoseconds)]
        guard utimensat(AT_FDCWD, path.map { CChar(bitPattern: $0) } + [0], &times, AT_SYMLINK_NOFOLLOW) == 0
        else {
            throw TreeError("utimensat", path)
        }
    }
}
