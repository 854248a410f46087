import Glibc

extension Directory {
    /// Names the disks that are mounted here and beneath. A disk that was pulled out and put back has another name.
    public func disksBeneath() throws(SystemError) -> [String] {
        let own = try presentPath()
        let beneath = own == [UInt8(ascii: "/")] ? own : own + "/".utf8
        let number = "\(try mountNumber())"
        var disks: [String] = []
        for line in try Directory.mountList() where line.count > 4 {
            guard line[0] == number || Directory.unescaped(line[4]).starts(with: beneath) else { continue }
            var device = String(line[2])
            // A btrfs has a number of its own, which is not the disk's.
            if device.hasPrefix("0:"), let dash = line.firstIndex(of: "-"), dash + 2 < line.endIndex,
                let disk = try? FileStatus.of(AT_FDCWD, String(line[dash + 2]), 0).represents
            {
                device = "\(disk.major):\(disk.minor)"
            }
            if let count = Directory.attachments(ofDevice: device) { disks.append("\(device) \(count)") }
        }
        return disks
    }

    /// Counts how often a disk was attached since the boot (Linux 5.15). A partition's directory is in that of its
    /// disk.
    private static func attachments(ofDevice device: String) -> String? {
        for path in ["/sys/dev/block/\(device)", "/sys/dev/block/\(device)/.."] {
            guard let text = try? HostFile.text(path + "/diskseq") else { continue }
            return text.filter(\.isNumber)
        }
        return nil
    }

    /// The fields of each mount: `42 27 7:0 / /mnt rw,… - fuseblk /dev/loop0 rw,…`.
    static func mountList() throws(SystemError) -> [[Substring]] {
        try HostFile.text("/proc/self/mountinfo").split(separator: "\n").map { $0.split(separator: " ") }
    }

    /// Decodes a field, in which spaces and similar bytes are three octal digits.
    static func unescaped(_ text: Substring) -> [UInt8] {
        let parts = text.split(separator: "\\", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: Array(parts[0].utf8)) { bytes, part in
            bytes.append(UInt8(part.prefix(3), radix: 8) ?? 0)
            bytes += part.dropFirst(3).utf8
        }
    }

    /// Names the mount through which this directory was opened. The name is unique over time.
    ///
    /// `STATX_MNT_ID_UNIQUE` (Linux 6.8) numbers mounts anew at each boot, so the boot ID is part of the name. Older
    /// kernels reuse the number of an old mount, so two mounts may have the same name there.
    public func mount() throws(SystemError) -> String {
        let (identifier, uniqueIdentifier): (UInt32, UInt32) = (0x1000, 0x4000)
        return "\(try KernelClock.boot()) \(try mountNumber(identifier | uniqueIdentifier))"
    }

    /// The number of the mount in the kernel's list of mounts.
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
