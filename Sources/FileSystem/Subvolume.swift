import Glibc

/// btrfs subvolumes: trees with inodes of their own in one file system. Numbers and offsets are those of
/// `linux/btrfs.h`.
extension Directory {
    /// Whether this is the root of a subvolume (`BTRFS_FIRST_FREE_OBJECTID`).
    public func isSubvolume() throws(SystemError) -> Bool {
        guard try status().inode == 256 else { return false }
        return try FileSystemInfo(of: self).name == "btrfs"
    }

    /// Makes a writable snapshot of this subvolume in another directory of the file system, atomically. It includes
    /// data that is not on disk yet. Inodes, birth times and change times are those of the originals. Only the owner
    /// may do this.
    ///
    /// `BTRFS_IOC_SNAP_CREATE_V2` takes a `struct btrfs_ioctl_vol_args_v2`.
    public func makeSnapshot(_ name: FileName, in holder: Directory) throws(SystemError) {
        try holder.request(0x5000_9417, path: holder.path(of: name), size: 4096) { arguments in
            arguments.storeBytes(of: withRawDescriptor { Int64($0) }, as: Int64.self)
            arguments[56...].copyBytes(from: name.bytes)
        }
    }

    /// Removes a subvolume with its content. May need root, or the mount option `user_subvol_rm_allowed`.
    ///
    /// `BTRFS_IOC_SNAP_DESTROY` takes a `struct btrfs_ioctl_vol_args`.
    public func removeSubvolume(_ name: FileName) throws(SystemError) {
        try request(0x5000_940F, path: path(of: name), size: 4096) { arguments in
            arguments[8...].copyBytes(from: name.bytes)
        }
    }

    /// The UUID of a subvolume, never reused.
    public typealias SubvolumeID = [UInt8]

    /// The UUIDs of this subvolume and of its original if it is a snapshot; all zeros if there is none.
    ///
    /// `BTRFS_IOC_GET_SUBVOL_INFO` fills a `struct btrfs_ioctl_get_subvol_info_args`.
    public func subvolumeID() throws(SystemError) -> (own: SubvolumeID, origin: SubvolumeID) {
        let information = try request(0x81F8_943C, path: path, size: 504) { _ in }
        return (Array(information[296..<312]), Array(information[312..<328]))
    }

    /// Sends a request of `ioctl(2)`.
    @discardableResult
    func request(
        _ number: UInt, path: [UInt8], size: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(SystemError) -> [UInt8] {
        var arguments = [UInt8](repeating: 0, count: size)
        arguments.withUnsafeMutableBytes(fill)
        try calling("ioctl", path) { () throws(Errno) in
            try withRawDescriptor { (descriptor) throws(Errno) in
                _ = try retrying { ioctl(descriptor, number, &arguments) }
            }
        }
        return arguments
    }
}
