import Glibc

extension Directory {
    /// Names the mount through which this directory was opened, unique over time.
    ///
    /// `STATX_MNT_ID_UNIQUE` (Linux 6.8) numbers mounts anew at each boot, so the boot ID is part of the name. Older
    /// kernels reuse the number of a mount that is gone, so two mounts may have the same name there.
    public func mount() throws(SystemError) -> String {
        let (identifier, uniqueIdentifier): (UInt32, UInt32) = (0x1000, 0x4000)
        return "\(try KernelClock.boot()) \(try mountNumber(identifier | uniqueIdentifier))"
    }

    /// The number of the mount, as the kernel's list of mounts has it.
    func mountNumber(_ wanted: UInt32 = 0x1000) throws(SystemError) -> UInt64 {
        var raw = statx()
        try calling("statx", path) { () throws(Errno) in
            try withRawDescriptor { (descriptor) throws(Errno) in
                _ = try retrying { statx(descriptor, "", AT_EMPTY_PATH, wanted, &raw) }
            }
        }
        // `stx_mnt_id` of `linux/stat.h`, which glibc's structure lacks.
        return withUnsafeBytes(of: raw) { $0.load(fromByteOffset: 0x90, as: UInt64.self) }
    }
}
