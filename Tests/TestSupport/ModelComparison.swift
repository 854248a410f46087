import FileSystem
import FsyncLite

/// The values that are compared between two trees.
extension ModelTree {
    /// An entry. Its text is only for messages, because comparing texts would be slow.
    package struct Line: Hashable, Sendable {
        let path: RelativePath
        let status: FileStatus
        var content = 0
        var destination: [UInt8] = []
        /// For a further name of a file: the first one.
        var primary: RelativePath?
    }

    /// The values that a mirror and its source share: all except identities and change times.
    package func content(withOwners: Bool = true, withLinks: Bool = true) -> [Line] {
        // The first name of each file.
        var first: [ID: RelativePath] = [:]
        return lines { object, id, path in
            let time = FileTime(seconds: object.status.modified.rawSeconds, nanoseconds: 0)
            var status = FileStatus(type: object.status.type, modified: time)
            status.permissions = object.status.permissions
            if withOwners { (status.owner, status.group) = (object.status.owner, object.status.group) }
            guard !object.isDirectory else { return Line(path: path, status: status) }
            status.size = object.status.size
            let primary = withLinks ? first[id] : nil
            if primary == nil { first[id] = path }
            return Line(
                path: path, status: status, content: object.content, destination: object.destination,
                primary: primary)
        }
    }

    /// The values that an undo restores: all except change times, also for the manifest.
    package func state() -> [Line] {
        let lines = lines { object, _, path in
            var status = object.status
            status.changed = .model(0)
            return Line(
                path: path, status: status, content: object.content, destination: object.destination)
        }
        guard let path = RelativePath(".fsync-lite/manifest.json"), let manifest = object(at: path) else {
            return lines
        }
        var status = FileStatus(type: .file, modified: .model(0))
        status.inode = manifest.status.inode
        return lines + [Line(path: path, status: status)]
    }

    private func lines(_ line: (Object, ID, RelativePath) -> Line) -> [Line] {
        [line(self[ModelTree.root], ModelTree.root, .root)]
            + entries().map { line(self[$0.id], $0.id, $0.path) }
    }
}

/// The lines that only one of two lists has, for a message.
package func contrast<Line: Equatable>(_ left: [Line], _ right: [Line]) -> String {
    (left.filter { !right.contains($0) }.map { "only left: \($0)" }
        + right.filter { !left.contains($0) }.map { "only right: \($0)" }).joined(separator: "\n")
}
