import Glibc

/// The share of each use in the descriptors that the process may open.
public enum DescriptorBudget {
    /// For reading ahead: a quarter, at most 256.
    public static let ahead = min(limit / 4, 256)

    /// The most threads of a `FilePipeline`. Each may need twenty descriptors if it works in deep directories.
    static let threads = max(limit / 20, 1)

    /// The innermost directories that a `DirectoryChain` keeps open.
    static let chain = limit >= 1024 ? 64 : max(limit / 32, 2)

    private static let limit: Int = {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
        return Int(clamping: min(limit.rlim_cur, 1 << 20))
    }()
}
