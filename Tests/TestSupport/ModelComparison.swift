import FileSystem
import FsyncLite

/// What counts when two trees are compared, one line per entry.
extension ModelTree {
    /// What a mirror has in common with its source: everything but identities and change times.
    package func content(withOwners: Bool = true, withLinks: Bool = true) -> [String] {
        // A file's names: by the first of them.
        var first: [ID: RelativePath] = [:]
        let links = entries().map { entry -> String in
            guard let path = first[entry.id] else {
                first[entry.id] = entry.path
                return ""
            }
            return "\(entry.path) is \(path)"
        }
        return links.filter { withLinks && !$0.isEmpty }
            + lines { object in
                let status = object.status
                let owners = withOwners ? " \(status.owner):\(status.group)" : ""
                let destination = String(decoding: object.destination, as: UTF8.self)
                return
                    "\(status.type) \(String(status.permissions, radix: 8))\(owners) \(status.modified.seconds)"
                    + (object.isDirectory ? "" : " \(status.size) #\(object.content) \(destination)")
            }
    }

    /// Everything but change times, the manifest too: what an undo brings back.
    package func state() -> [String] {
        let manifest = RelativePath(".fsync-lite/manifest.json").flatMap { object(at: $0) }
        return ["manifest \(manifest?.status.inode ?? 0)"]
            + lines { object in
                var object = object
                object.status.changed = .model(0)
                return "\(object.status) \(object.content) \(object.destination)"
            }
    }

    private func lines(_ describe: (Object) -> String) -> [String] {
        [". " + describe(self[ModelTree.root])] + entries().map { "\($0.path) \(describe(self[$0.id]))" }
    }
}

/// The lines that only one of two listings has, for a message.
package func contrast(_ left: [String], _ right: [String]) -> String {
    (left.filter { !right.contains($0) }.map { "only left: " + $0 }
        + right.filter { !left.contains($0) }.map { "only right: " + $0 }).joined(separator: "\n")
}
