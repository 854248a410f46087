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
    /// - Parameters:
    ///   - status: the present state, but for extended attributes.
    ///   - selection: the kinds of extended attributes that the object may have; nil where it is new and has none.
    /// - Returns: what the object does not take.
    package func set(
        _ wanted: Attributes, over status: FileStatus, setsOwner: Bool,
        _ selection: ExtendedAttributes.Selection?
    ) throws(SystemError) -> RefusedAttributes {
        var (wanted, refused) = (wanted, RefusedAttributes())
        let changesOwner = setsOwner && (status.owner != wanted.owner || status.group != wanted.group)
        if changesOwner {
            do throws(SystemError) {
                try setOwner(wanted.owner, group: wanted.group)
            } catch {
                guard RefusedAttributes.ofOwner.contains(error.errno) else { throw error }
                refused.owner = error
                if status.type == .file { wanted.permissions &= ~FileStatus.identityBits }
            }
        }
        if let extended = wanted.extended {
            var held = ExtendedAttributes()
            if let selection { held = try extendedAttributes(selection) }
            refused.extended = try setExtendedAttributes(extended, over: held)
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

extension ObjectHandle {
    /// Changes names in a directory, or moves it, which its owner may have closed to themselves.
    package func whileWritable<Value>(_ body: () throws -> Value) throws -> Value {
        let permissions = try status().permissions
        guard !Account.isRoot, permissions & 0o300 != 0o300 else { return try body() }
        try setPermissions(permissions | 0o300)
        let result = Result { try body() }
        try setPermissions(permissions)
        return try result.get()
    }
}

/// What an object does not take of its attributes.
package struct RefusedAttributes {
    /// Why not owner and group.
    package var owner: SystemError?
    package var extended = ExtendedAttributes()

    /// A number that the user namespace or the mount cannot map, and a user who may not give files away.
    static let ofOwner: Set<Errno> = [.invalid, .overflow, .notPermitted]
}

extension FileStatus {
    /// Setuid and setgid: who runs the file acts as its owner, or its group.
    package static let identityBits: UInt16 = 0o6000

    /// On an object that keeps its owner: the file of another must not hand out the rights of that one.
    package mutating func keepOwner(of other: FileStatus) {
        if type == .file {
            if owner != other.owner { permissions &= ~FileStatus.identityBits }
            // Of others than root, the kernel takes setgid away for a group that is not theirs; that is listed.
            if group != other.group, Account.isRoot { permissions &= ~0o2000 }
        }
        (owner, group) = (other.owner, other.group)
    }
}
