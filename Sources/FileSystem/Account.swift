import Glibc

/// The user with whose rights this process runs.
public enum Account {
    public static var effectiveUser: UInt32 { geteuid() }
    /// The effective user does not change while the process runs.
    public static let isRoot = geteuid() == 0
    /// Whether this process may change others' files. Root without `CAP_FOWNER` (3) may not, as in a container.
    static let changesOthers: Bool = {
        guard let word = try? HostProcess.field("CapEff:", of: HostProcess.id)?.last,
            let set = UInt64(word, radix: 16)
        else { return true }
        return set & (1 << 3) != 0
    }()
    /// The owner that the kernel shows if the user namespace lacks the real one: the default of
    /// `/proc/sys/kernel/overflowuid`. A real user may have this number, too.
    public static let unmappedUser: UInt32 = 65534

    /// The user's home directory in the password database; nil if it has none.
    public static var home: [UInt8]? {
        var (entry, found) = (passwd(), nil as UnsafeMutablePointer<passwd>?)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 14) { buffer in
            guard let base = buffer.baseAddress,
                getpwuid_r(geteuid(), &entry, base, buffer.count, &found) == 0, found != nil,
                let home = entry.pw_dir
            else { return nil }
            return Array(UnsafeRawBufferPointer(start: home, count: strlen(home)))
        }
    }
}
