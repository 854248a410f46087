import FileSystem

/// What is compared, and how far it may be believed.
package struct ComparisonPolicy: Sendable {
    /// nil: nothing is suspect (two manifests), which is decided by `alwaysComparesContent` otherwise.
    package var trust: Trust?
    /// Without a manifest every file that looks equal is compared by content.
    package var alwaysComparesContent = false
    /// Owner and group: only root can set them.
    package var comparesOwner = true
    /// Inode and birth time of the record belong to the source that is looked at.
    package var followsIdentity = true

    package init() {}

    /// Compares two entries of one type, whatever their paths.
    func compare(_ pair: inout Pair) {
        let (source, target) = (pair.source.status, pair.target.status)
        switch source.type {
        case .file:
            if source.size != target.size { pair.causes.insert(.size) }
            if source.modified != target.modified { pair.causes.insert(.modified) }
            if pair.causes.isDisjoint(with: [.size, .modified]) {
                pair.needsContentComparison = isSuspect(pair)
            } else {
                pair.replacesContent = true
            }
        case .symlink:
            if pair.source.kind != pair.target.kind { pair.causes.insert(.destination) }
        case .characterDevice, .blockDevice:
            if source.represents != target.represents { pair.causes.insert(.device) }
        case .directory, .fifo, .socket:
            break
        }
        if source.modified != target.modified { pair.causes.insert(.modified) }
        if source.type != .symlink, source.permissions != target.permissions { pair.causes.insert(.mode) }
        if comparesOwner, source.owner != target.owner { pair.causes.insert(.owner) }
        if comparesOwner, source.group != target.group { pair.causes.insert(.group) }
        if !pair.causes.isDisjoint(with: [.destination, .device]) { pair.replacesContent = true }
        // An attribute set on an object that has other names would change those too.
        if pair.changesAttributes, source.type != .directory, target.links > 1 { pair.replacesContent = true }
        if !pair.causes.isEmpty, pair.record?.differs(from: target) ?? false { pair.causes.insert(.drift) }
    }

    private func isSuspect(_ pair: Pair) -> Bool {
        if alwaysComparesContent { return true }
        guard let trust else { return false }
        guard let record = pair.record else { return true }
        return record.targetInode != pair.target.status.inode
            || record.status.size != pair.target.size || record.status.modified != pair.target.status.modified
            || record.status.identity != pair.source.identity
            || trust.suspectsTarget(pair.target.status)
            || trust.suspectsSource(pair.source.status, record: record.status)
    }
}
