import FileSystem
import FsyncLite

/// What counts when two trees are compared.
extension ModelTree {
    /// An entry. Its text is for messages: to compare it would take most of a test's time.
    package struct Line: Hashable, Sendable {
        let path: RelativePath
        let status: FileStatus
        var content = 0
        var destination: [UInt8] = []
        /// Of a further name of a file, the first one.
        var primary: RelativePath?
    }

    /// What a mirror has in common with its source: everything but identities and change times.
    package func content(withOwners: Bool = true, withLinks: Bool = true) -> [Line] {
        // A file's names: by the first of them.
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

    /// Everything but change times, the manifest too: what an undo brings back.
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

/// The lines that only one of two listings has, for a message.
package func contrast<Line: Equatable>(_ left: [Line], _ right: [Line]) -> String {
    (left.filter { !right.contains($0) }.map { "only left: \($0)" }
        + right.filter { !left.contains($0) }.map { "only right: \($0)" }).joined(separator: "\n")
}
