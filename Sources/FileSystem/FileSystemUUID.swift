extension Directory {
    /// A name for this directory's file system: the same after each mount, for any device name and each subvolume. Nil
    /// if the kernel reports nothing that lasts.
    public func fileSystemUUID() throws(SystemError) -> String? {
        let info = try FileSystemInfo(of: self)
        // Numbers and offsets are those of `linux/btrfs.h` and `xfs_fs.h`.
        let (number, size, offset): (UInt, Int, Int)
        switch info.name {
        // `statfs(2)` reports a number that is made from the UUID.
        case "ext4", "zfs", "bcachefs", "tmpfs": return info.identifier
        // `BTRFS_IOC_FS_INFO`: statfs reports another number for each subvolume.
        case "btrfs": (number, size, offset) = (0x8400_941F, 1024, 16)
        // `XFS_IOC_FSGEOMETRY_V1`: statfs reports the device.
        case "xfs": (number, size, offset) = (0x8070_5864, 112, 64)
        default: return nil
        }
        let information: [UInt8]
        do {
            information = try request(number, path: path, size: size) { _ in }
        } catch {
            // A sandbox may forbid the call.
            guard [.notPermitted, .notTerminal, .notImplemented].contains(error.errno) else { throw error }
            return nil
        }
        return information[offset..<(offset + 16)].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            .joined()
    }
}
