import FileStorage
import FileSystem

// Compares the present place of a target with its recorded place.

extension KnownTargets {
    /// The refusal of a known target that is missing. Its path has no state or another one, and is on another file
    /// system, or in another mount of the same one.
    ///
    /// If the mount is the same, the user has removed the target, so there is no refusal.
    ///
    /// - Parameter isOfJob: a job has this target.
    func refusal(of root: TargetRoot, isOfJob: Bool = false) throws -> Refusal? {
        // If a record cannot be read, as in another user's home, the run continues.
        guard let known = try? entries(), !known.isEmpty else { return nil }
        let (path, holder) = try KnownTargets.place(of: root)
        guard let entry = known.last(where: { $0.paths.contains(path) }),
            try FileSystemName(of: holder).isOther(than: entry.fileSystem)
                || entry.mountPoint.map({ try holder.mountPoint() != $0 }) ?? false,
            case let header = try root.state?.manifest()?.header, header?.stateID != entry.id,
            try header.map({ try !KnownTargets.isMounted($0, at: holder, over: entry) }) ?? true
        else { return nil }
        return .missingTarget(
            root.path, lastApply: entry.lastApply, isThere: header != nil, isOfJob: isOfJob)
    }

    /// Whether another target is on the file system that its own runs wrote to, in a mount at the recorded one or below
    /// it. Then its disk was mounted in place of the recorded one.
    private static func isMounted(
        _ header: ManifestHeader, at holder: Directory, over entry: Entry
    ) throws -> Bool {
        guard let recorded = entry.mountPoint, let present = try holder.mountPoint(),
            let fileSystem = header.targetFileSystem, try holder.fileSystemUUID() == fileSystem
        else { return false }
        return present == recorded || present.hasPrefix(recorded == "/" ? recorded : recorded + "/")
    }

    /// Whether a known target is at its path.
    public enum Presence: String, Sendable {
        case there
        /// Its path is on another file system.
        case diskMissing = "disk_missing"
        /// Its file system is there, but the target is not.
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
            // A list has one word for it. The target's own status shows the reason.
            return .unreadable
        }
    }

    /// The path of a target without symlinks, and the target's directory or its nearest existing ancestor. Both are
    /// read from one open directory. If the path led elsewhere meanwhile, the result would be another file system.
    static func place(of root: TargetRoot) throws -> (path: [UInt8], holder: Directory) {
        if let directory = root.directory { return (try directory.presentPath(), directory) }
        let (holder, names) = try TargetRoot.place(root.path)
        return (names.reduce(LocalFile(bytes: try holder.presentPath())) { $0 + $1.bytes }.bytes, holder)
    }
}
