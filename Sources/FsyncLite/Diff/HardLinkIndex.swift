import FileSystem

/// Which file of the target stands for which of the source, where one of the two has several names: a fixed cost
/// for each such file, however many names it has.
///
/// A mirror is faithful when two of its names are names of one file just where they are in the source.
package struct HardLinkIndex: Sendable {
    /// The target's, under a name that it has.
    private var targets: [LinkedFile: File] = [:]
    private var sources: [UInt64: (source: LinkedFile, names: UInt32)] = [:]

    package init() {}

    /// Takes in a name of the source's file, and the name that the target has for it. False when the target's file
    /// under it is not the one, or not only the one, that stands for the source's.
    ///
    /// - Parameter record: what the target's holds where nothing is to be done about it.
    package mutating func admit(
        _ source: FileStatus, _ target: FileStatus, at path: RelativePath, as base: BaseEntry?
    ) -> Bool {
        guard source.type != .directory, source.type == target.type, source.links > 1 || target.links > 1
        else { return true }
        let file = LinkedFile(source)
        if source.links > 1 {
            if let counterpart = targets[file] {
                guard counterpart.status.inode == target.inode else { return false }
            } else if sources[target.inode] == nil {
                targets[file] = File(
                    path: path, status: target, destination: [],
                    extended: base?.extended ?? ExtendedAttributes(), omitted: base?.omitted ?? [],
                    digest: base?.digest)
            }
        }
        guard let known = sources[target.inode] else {
            sources[target.inode] = (file, 1)
            return true
        }
        // What nobody knows any more is no file of two names, though all of it has one identity.
        guard known.source == file, source.links > 1 else { return false }
        sources[target.inode]?.names += 1
        return true
    }

    /// The target's file that stands for a file of the source.
    package func counterpart(of source: FileStatus) -> File? {
        source.links > 1 ? targets[LinkedFile(source)] : nil
    }

    /// Whether all names that the target's file has are names of the mirror: then a change of its attributes
    /// changes nothing else.
    package func accountsForNames(of target: FileStatus) -> Bool {
        target.links <= (sources[target.inode]?.names ?? 1)
    }
}

/// A file, or a symlink, pipe or device, with several names. Its device tells it from the twin on a copy of its file system, and is good for one run
/// only.
struct LinkedFile: Hashable, Sendable {
    private let identity: FileIdentity
    private let device: DeviceNumber

    init(_ status: FileStatus) {
        identity = status.identity
        device = status.device
    }
}
