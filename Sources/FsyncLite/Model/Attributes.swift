import FileSystem

/// What can be set on an object without touching its content.
package struct Attributes: Hashable, Sendable {
    package var permissions: UInt16
    package var owner: UInt32
    package var group: UInt32
    package var modified: FileTime

    package init(_ status: FileStatus) {
        permissions = status.permissions
        owner = status.owner
        group = status.group
        modified = status.modified
    }

    package init(permissions: UInt16, owner: UInt32, group: UInt32, modified: FileTime) {
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.modified = modified
    }
}
