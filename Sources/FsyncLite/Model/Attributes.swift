import FileSystem

/// What can be set on an object without touching its content.
package struct Attributes: Hashable, Sendable {
    package var permissions: UInt16
    package var owner: UInt32
    package var group: UInt32
    package var modified: FileTime
    /// All extended attributes; nil leaves them alone.
    package var extended: ExtendedAttributes?

    package init(_ status: FileStatus, extended: ExtendedAttributes? = nil) {
        permissions = status.permissions
        owner = status.owner
        group = status.group
        modified = status.modified
        self.extended = extended
    }

    package init(permissions: UInt16, owner: UInt32, group: UInt32, modified: FileTime) {
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.modified = modified
    }
}

extension ObjectHandle {
    /// Sets what differs from the present state, in the order in which one call undoes nothing of another: the
    /// owner first, for its change takes setuid, setgid and capabilities away; then extended attributes, for an
    /// ACL sets permissions; the modification time last.
    ///
    /// - Returns: extended attributes that the file system does not take.
    func set(
        _ wanted: Attributes, over status: FileStatus, setsOwner: Bool,
        _ selection: ExtendedAttributes.Selection
    ) throws -> ExtendedAttributes {
        let changesOwner = setsOwner && (status.owner != wanted.owner || status.group != wanted.group)
        if changesOwner { try setOwner(wanted.owner, group: wanted.group) }
        var refused = ExtendedAttributes()
        if let extended = wanted.extended {
            refused = try setExtendedAttributes(extended, over: extendedAttributes(selection))
        }
        if status.type != .symlink {
            let permissions =
                changesOwner || wanted.extended != nil ? try self.status().permissions : status.permissions
            if permissions != wanted.permissions { try setPermissions(wanted.permissions) }
        }
        if status.modified != wanted.modified { try setModified(wanted.modified) }
        return refused
    }
}
