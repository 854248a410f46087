import Foundation

/// Nested directories, deeper than any path can name, with a file in the innermost one.
package enum DeepTree {
    package static func make(at root: String, depth: Int, name: String = "d") throws {
        try walk(root, depth, name) { directory in
            guard mkdirat(directory, name, 0o755) == 0 else { throw TreeError("mkdirat", Array(name.utf8)) }
        } end: {
            try TreeLiteral.file("deep").build(at: "/proc/self/fd/\($0)/file")
        }
    }

    /// The content of the file in the innermost directory.
    package static func text(at root: String, depth: Int, name: String = "d") throws -> String {
        var text = ""
        try walk(root, depth, name) { _ in
        } end: {
            text = try String(contentsOfFile: "/proc/self/fd/\($0)/file", encoding: .utf8)
        }
        return text
    }

    /// Writes that file again.
    package static func edit(_ text: String, at root: String, depth: Int, name: String = "d") throws {
        try walk(root, depth, name) { _ in
        } end: {
            try TreeLiteral.file(text).build(at: "/proc/self/fd/\($0)/file")
        }
    }

    /// The number of levels.
    package static func depth(at root: String, name: String = "d") -> Int {
        var count = 0
        try? walk(root, .max, name) { _ in
            count += 1
        } end: { _ in
        }
        return count - 1
    }

    /// - Parameters:
    ///   - step: called with each directory before the next one is entered.
    ///   - end: called with the last one.
    package static func walk(
        _ root: String, _ depth: Int, _ name: String, step: (Int32) throws -> Void,
        end: (Int32) throws -> Void
    ) throws {
        var directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw TreeError("open", Array(root.utf8)) }
        defer { close(directory) }
        for _ in 0..<depth {
            try step(directory)
            let next = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { throw TreeError("openat", Array(name.utf8)) }
            close(directory)
            directory = next
        }
        try end(directory)
    }
}
