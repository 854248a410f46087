import Glibc

/// A subvolume of btrfs: a tree with inodes of its own in a file system. Numbers and offsets stand in `linux/btrfs.h`.
extension Directory {
    /// Whether this is the root of one (`BTRFS_FIRST_FREE_OBJECTID`).
    package func isSubvolume() throws(SystemError) -> Bool {
        guard try status().inode == 256 else { return false }
        return try FileSystemInfo(of: self).name == "btrfs"
    }

    /// Makes a writable snapshot of this subvolume in another directory of the file system: in one step, with what is
    /// not on disk yet. Its objects have the inodes, birth times and change times of the originals. Only the owner may.
    ///
    /// `BTRFS_IOC_SNAP_CREATE_V2` takes a `struct btrfs_ioctl_vol_args_v2`.
    package func makeSnapshot(_ name: FileName, in holder: Directory) throws(SystemError) {
        try holder.request(0x5000_9417, path: holder.path(of: name), size: 4096) { arguments in
            arguments.storeBytes(of: withRawDescriptor { Int64($0) }, as: Int64.self)
            arguments[56...].copyBytes(from: name.bytes)
        }
    }

    /// Removes a subvolume with all that it holds. May need root, or the mount option `user_subvol_rm_allowed`.
    ///
    /// `BTRFS_IOC_SNAP_DESTROY` takes a `struct btrfs_ioctl_vol_args`.
    package func removeSubvolume(_ name: FileName) throws(SystemError) {
        try request(0x5000_940F, path: path(of: name), size: 4096) { arguments in
            arguments[8...].copyBytes(from: name.bytes)
        }
    }

    /// A subvolume's own number, that of no other ever.
    package typealias SubvolumeID = [UInt8]

    /// The number of this subvolume and of the one that it was made of as a snapshot; all zeros for none.
    ///
    /// `BTRFS_IOC_GET_SUBVOL_INFO` fills a `struct btrfs_ioctl_get_subvol_info_args`.
    package func subvolumeID() throws(SystemError) -> (own: SubvolumeID, origin: SubvolumeID) {
        let information = try request(0x81F8_943C, path: path, size: 504) { _ in }
        return (Array(information[296..<312]), Array(information[312..<328]))
    }

    @discardableResult
    private func request(
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
