import FileSystem

/// Pairs files of target and source if one of them has several names. The cost per file is independent of their number.
///
/// A mirror is faithful if two of its names are names of one file if and only if they are so in the source.
package struct HardLinkIndex: Sendable {
    /// Files of the target, each under one of its names.
    private var targets: [LinkedFile: File] = [:]
    private var sources: [UInt64: (source: LinkedFile, names: UInt32)] = [:]

    package init() {}

    /// Adds a name of the source's file and the target's file of that name.
    ///
    /// - Parameters:
    ///   - base: the manifest's entry, from which the counterpart gets its attributes, digest and number.
    ///   - mayBeCounterpart: false for another object at the path of the recorded one.
    /// - Returns: false if that file is not the counterpart of the source's file, or not only of it.
    package mutating func admit(
        _ source: FileStatus, _ target: FileStatus, at path: RelativePath, as base: BaseEntry?,
        mayBeCounterpart: Bool = true
    ) -> Bool {
        guard source.type != .directory, source.type == target.type, source.links > 1 || target.links > 1
        else { return true }
        let file = LinkedFile(source)
        if source.links > 1 {
            if let counterpart = targets[file] {
                guard counterpart.status.inode == target.inode else { return false }
            } else if sources[target.inode] == nil, mayBeCounterpart {
                targets[file] = File(
                    path: path, status: target, destination: [],
                    extended: base?.extended ?? ExtendedAttributes(), omitted: base?.omitted ?? [],
                    digest: base?.digest,
                    object: base.map { $0.known.isIntact(in: target) ? $0.object : 0 } ?? 0)
            }
        }
        guard let known = sources[target.inode] else {
            sources[target.inode] = (file, 1)
            return true
        }
        // Unknown entries all have one identity, and are not names of one file.
        guard known.source == file, source.links > 1 else { return false }
        sources[target.inode]?.names += 1
        return true
    }

    /// The target's counterpart of a file of the source.
    package func counterpart(of source: FileStatus) -> File? {
        source.links > 1 ? targets[LinkedFile(source)] : nil
    }

    /// Whether all names of the target's file are in the mirror, so that a change of attributes affects only the
    /// mirror.
    package func hasAllNames(of target: FileStatus) -> Bool {
        target.links <= (sources[target.inode]?.names ?? 1)
    }
}

/// A file, symlink, pipe or device with several names. The device number distinguishes it from its twin on a copy of
/// the file system. It is valid for one run only.
struct LinkedFile: Hashable, Sendable {
    private let identity: FileIdentity
    private let device: DeviceNumber

    init(_ status: FileStatus) {
        identity = status.identity
        device = status.device
    }
}

extension FileStatus {
    /// The status with the identity of its object. A file without a number is identified by its inode.
    func paired(by policy: ComparisonPolicy, _ object: UInt64) -> FileStatus {
        policy.pairsByNumber && object != 0 ? with(policy.key(self, object)) : self
    }
}
