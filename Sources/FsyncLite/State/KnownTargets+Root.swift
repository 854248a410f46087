import FileStorage
import FileSystem

// Where a target is now, beside where it was.

extension KnownTargets {
    /// The refusal of a known target that is not there: its path has no state, or another one, on another file system, or
    /// in another mount of that one.
    ///
    /// In the same mount its user has removed it.
    func refusal(of root: TargetRoot) throws -> Refusal? {
        // A record that cannot be read, as in another user's home, stops no run.
        guard let known = try? entries(), !known.isEmpty else { return nil }
        let (path, holder) = try KnownTargets.place(of: root)
        guard let entry = known.last(where: { $0.paths.contains(path) }),
            try FileSystemName(of: holder).isOther(than: entry.fileSystem)
                || entry.mountPoint.map({ try holder.mountPoint() != $0 }) ?? false,
            try root.state?.manifest()?.header.stateID != entry.id
        else { return nil }
        return .missingTarget(root.path, lastApply: entry.lastApply)
    }

    /// Whether a known target is at its path.
    public enum Presence: String, Sendable {
        case there
        /// Its path is on another file system.
        case diskMissing = "disk_missing"
        /// Its file system is there, and it is not.
        case gone
        case unreadable
    }

    public func presence(of entry: Entry) -> Presence {
        guard let path = entry.paths.last else { return .gone }
        do {
            let root = try TargetRoot(path)
            guard try refusal(of: root) == nil else { return .diskMissing }
            return root.state == nil ? .gone : .there
        } catch {
            // A list says it in one word; the target's own status tells the reason.
            return .unreadable
        }
    }

    /// The path of a target without symlinks, and the directory that it is, or the nearest above that exists. Both are of
    /// one open directory: a path that leads elsewhere meanwhile would tell another file system.
    static func place(of root: TargetRoot) throws -> (path: [UInt8], holder: Directory) {
        if let directory = root.directory { return (try directory.presentPath(), directory) }
        let (holder, names) = try TargetRoot.place(root.path)
        return (names.reduce(LocalFile(bytes: try holder.presentPath())) { $0 + $1.bytes }.bytes, holder)
    }
}
