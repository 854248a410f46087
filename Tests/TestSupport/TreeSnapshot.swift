import Foundation

/// The content of a directory, listed with plain system calls. It shares no code with the tool that it tests.
///
/// The state `.fsync-lite` at the root is left out. The root itself is `.`.
package struct TreeSnapshot: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        /// As `ls` marks it: `-`, `d`, `l`, `p`, ...
        package var type: Character
        package var mode: UInt32
        package var owner: UInt32
        package var group: UInt32
        package var modified: TreeTime
        /// The bytes of a file, or the destination of a symlink; nil for an unreadable file.
        package var content: [UInt8]?
    }

    /// The identity of an object, and its last change.
    package struct Identity: Sendable, Equatable {
        package var inode: UInt64
        package var changed: TreeTime
    }

    package private(set) var entries: [[UInt8]: Entry] = [:]
    package private(set) var identities: [[UInt8]: Identity] = [:]

    /// - Parameters:
    ///   - withState: includes `.fsync-lite`.
    ///   - names: entries of the root that are left out, with everything in them.
    package init(_ path: String, withState: Bool = false, leavingOut names: Set<String> = []) throws {
        let omitted = names.union(withState ? [] : [".fsync-lite"])
        for (name, path, status) in try RawPath.entries(of: path, leavingOut: omitted) {
            var entry = Entry(
                type: "?", mode: status.st_mode & 0o7777, owner: status.st_uid, group: status.st_gid,
                modified: TreeTime(status.st_mtim))
            switch status.st_mode & S_IFMT {
            case S_IFREG:
                entry.type = "-"
                entry.content = try TreeSnapshot.content(path)
            case S_IFDIR: entry.type = "d"
            case S_IFLNK:
                entry.type = "l"
                entry.content = try TreeSnapshot.destination(path)
            case S_IFIFO: entry.type = "p"
            case S_IFSOCK: entry.type = "s"
            case S_IFCHR: entry.type = "c"
            case S_IFBLK: entry.type = "b"
            default: break
            }
            entries[name] = entry
            identities[name] = Identity(inode: UInt64(status.st_ino), changed: TreeTime(status.st_ctim))
        }
    }

    private static func content(_ path: [UInt8]) throws -> [UInt8]? {
        let descriptor = open(RawPath.terminated(path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == EACCES { return nil }
            throw TreeError("open", path)
        }
        let content = try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readToEnd()
        return content.map { [UInt8]($0) } ?? []
    }

    private static func destination(_ path: [UInt8]) throws -> [UInt8] {
        var buffer = [CChar](repeating: 0, count: 4097)
        let length = readlink(RawPath.terminated(path), &buffer, buffer.count)
        guard length >= 0 else { throw TreeError("readlink", path) }
        return buffer.prefix(length).map { UInt8(bitPattern: $0) }
    }
}

// MARK: Comparing

extension TreeSnapshot {
    package static func == (left: TreeSnapshot, right: TreeSnapshot) -> Bool {
        left.entries == right.entries
    }

    /// The differences for people, one per line; empty if the trees are equal.
    package func differences(from other: TreeSnapshot) -> [String] {
        TreeDifferences.lines(entries, other.entries) { entry in
            "\(entry.type) \(String(entry.mode, radix: 8)) of \(entry.owner):\(entry.group) "
                + "at \(entry.modified) \(Self.short(entry.content))"
        }
    }

    /// The paths with another object, or with a change since then; empty if there are none.
    ///
    /// - Parameter paths: left out of the comparison.
    package func touched(since other: TreeSnapshot, except paths: Set<String> = []) -> [String] {
        let skipped = Set(paths.map { Array($0.utf8) })
        return TreeDifferences.lines(
            identities.filter { !skipped.contains($0.key) },
            other.identities.filter { !skipped.contains($0.key) }
        ) { "object \($0.inode), changed at \($0.changed)" }
    }

    package subscript(path: String) -> Entry? { entries[Array(path.utf8)] }

    package func inode(_ path: String) -> UInt64? { identities[Array(path.utf8)]?.inode }

    /// Paths as text, sorted, without the root.
    package var paths: [String] {
        entries.keys.map { String(decoding: $0, as: UTF8.self) }.filter { $0 != "." }.sorted()
    }

    private static func short(_ content: [UInt8]?) -> String {
        guard let content else { return "unreadable" }
        let start = String(decoding: content.prefix(24), as: UTF8.self)
        return content.count > 24 ? "\"\(start)…\" (\(content.count) bytes)" : "\"\(start)\""
    }
}

/// The differences of two trees, for people.
enum TreeDifferences {
    static func lines<Value: Equatable>(
        _ left: [[UInt8]: Value], _ right: [[UInt8]: Value], _ text: (Value) -> String
    ) -> [String] {
        let names = Set(left.keys).union(right.keys).filter { left[$0] != right[$0] }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { name in
            switch (left[name], right[name]) {
            case (let value?, let other?): "\(label(name)): \(text(value)), not \(text(other))"
            case (nil, _): "\(label(name)): is missing"
            case (_, nil): "\(label(name)): should not be there"
            }
        }
    }

    private static func label(_ name: [UInt8]) -> String {
        if let text = String(validating: name, as: UTF8.self) { return text }
        return name.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "\\x" + String($0, radix: 16) }.joined()
    }
}
