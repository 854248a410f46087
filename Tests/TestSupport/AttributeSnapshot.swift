import CLinux
import Glibc

/// The part of a tree that a `TreeSnapshot` leaves out, listed with plain system calls: extended attributes
/// with ACLs, hard links, device numbers, and the sizes of files.
///
/// The state `.fsync-lite` at the root is left out. The root itself is `.`.
package struct AttributeSnapshot: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package var size: Int
        package var device: UInt
        /// By name. ACLs are among them.
        package var attributes: [[UInt8]: [UInt8]]
        /// The first of several names in this tree.
        package var group: [UInt8]?
    }

    package private(set) var entries: [[UInt8]: Entry] = [:]

    package init(_ path: String) throws {
        var groups: [[UInt]: [[UInt8]]] = [:]
        for (name, path, status) in try RawPath.entries(of: path, leavingOut: [".fsync-lite"]) {
            let kind = status.st_mode & S_IFMT
            entries[name] = Entry(
                size: kind == S_IFREG ? Int(status.st_size) : 0,
                device: kind == S_IFBLK || kind == S_IFCHR ? UInt(status.st_rdev) : 0,
                attributes: try RawPath.attributes(of: path))
            if kind != S_IFDIR, status.st_nlink > 1 {
                groups[[UInt(status.st_dev), UInt(status.st_ino)], default: []].append(name)
            }
        }
        for names in groups.values where names.count > 1 {
            let first = names.min { $0.lexicographicallyPrecedes($1) }
            for name in names { entries[name]?.group = first }
        }
    }

    package subscript(path: String) -> Entry? { entries[Array(path.utf8)] }

    /// The differences for people, one per line; empty if the trees are equal.
    package func differences(from other: AttributeSnapshot) -> [String] {
        TreeDifferences.lines(entries, other.entries) { entry in
            let attributes = entry.attributes.map {
                "\(String(decoding: $0, as: UTF8.self))=\($1.count > 44 ? "\($1.count) bytes" : "\($1)")"
            }
            return "size \(entry.size) device \(entry.device) \(attributes.sorted()) "
                + "group \(entry.group.map { String(decoding: $0, as: UTF8.self) } ?? "none")"
        }
    }
}

/// Plain system calls on paths as bytes.
package enum RawPath {
    package static func terminated(_ path: [UInt8]) -> [CChar] {
        path.map { CChar(bitPattern: $0) } + [0]
    }

    /// The entries of a directory, and itself as `.`: the path below it, the whole path, and the status.
    ///
    /// - Parameter names: entries that are left out, with everything in them.
    static func entries(
        of root: String, leavingOut names: Set<String>
    ) throws -> [(name: [UInt8], path: [UInt8], status: stat)] {
        let omitted = Set(names.map { Array($0.utf8) })
        var found: [(name: [UInt8], path: [UInt8], status: stat)] = []
        var pending: [[UInt8]] = [[]]
        while let name = pending.popLast() {
            let path = Array(root.utf8) + (name.isEmpty ? [] : [UInt8(ascii: "/")]) + name
            var status = stat()
            guard lstat(terminated(path), &status) == 0 else { throw TreeError("lstat", path) }
            found.append((name.isEmpty ? [UInt8(ascii: ".")] : name, path, status))
            guard status.st_mode & S_IFMT == S_IFDIR else { continue }
            for child in try self.names(in: path) where !name.isEmpty || !omitted.contains(child) {
                pending.append(name.isEmpty ? child : name + [UInt8(ascii: "/")] + child)
            }
        }
        return found
    }

    package static func names(in path: [UInt8]) throws -> [[UInt8]] {
        guard let stream = opendir(terminated(path)) else {
            // A directory that cannot be listed has no known names.
            if errno == EACCES { return [] }
            throw TreeError("opendir", path)
        }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { pointer in
                    (0..<strlen(pointer)).map { UInt8(bitPattern: pointer[$0]) }
                }
            }
            if name != [UInt8(ascii: ".")], name != Array("..".utf8) { names.append(name) }
        }
        return names
    }

    /// All extended attributes of a file, or of a symlink itself. ACLs are listed once: XFS has two names for
    /// them.
    package static func attributes(of path: [UInt8]) throws -> [[UInt8]: [UInt8]] {
        var list = [CChar](repeating: 0, count: 65536)
        let length = llistxattr(terminated(path), &list, list.count)
        if length < 0, errno == ENOTSUP { return [:] }
        guard length >= 0 else { throw TreeError("llistxattr", path) }
        var found: [[UInt8]: [UInt8]] = [:]
        for name in list[..<length].split(separator: 0) {
            if name.starts(with: "trusted.SGI_ACL_".utf8.map { CChar(bitPattern: $0) }) { continue }
            var value = [UInt8](repeating: 0, count: 65536)
            let size = lgetxattr(terminated(path), Array(name) + [0], &value, value.count)
            guard size >= 0 else { throw TreeError("lgetxattr", path) }
            found[name.map { UInt8(bitPattern: $0) }] = Array(value[..<size])
        }
        return found
    }

    package static func setAttribute(_ name: TreeName, _ value: [UInt8], on path: String) throws {
        let path = Array(path.utf8)
        guard lsetxattr(terminated(path), terminated(name.bytes), value, value.count, 0) == 0 else {
            throw TreeError("lsetxattr", path)
        }
    }

    package static func removeAttribute(_ name: TreeName, from path: String) throws {
        let path = Array(path.utf8)
        guard lremovexattr(terminated(path), terminated(name.bytes)) == 0 else {
            throw TreeError("lremovexattr", path)
        }
    }
}

/// A POSIX ACL in the kernel's form, as the value of an extended attribute.
package struct AccessList: Sendable {
    package static let access: TreeName = "system.posix_acl_access"
    package static let inherited: TreeName = "system.posix_acl_default"

    package var bytes: [UInt8] = [2, 0, 0, 0]

    /// - Parameters:
    ///   - owner: permissions from 0 to 7. The next parameters have the same form.
    ///   - users: more users, by number.
    package init(
        owner: UInt8, users: KeyValuePairs<UInt32, UInt8>, group: UInt8, mask: UInt8, others: UInt8
    ) {
        add(0x01, owner, .max)
        for (user, permissions) in users { add(0x02, permissions, user) }
        add(0x04, group, .max)
        add(0x10, mask, .max)
        add(0x20, others, .max)
    }

    private mutating func add(_ tag: UInt8, _ permissions: UInt8, _ id: UInt32) {
        bytes += [tag, 0, permissions, 0] + (0..<4).map { UInt8(truncatingIfNeeded: id >> (8 * $0)) }
    }
}
