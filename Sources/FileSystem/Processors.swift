import Glibc

/// The processors that this process may use.
public enum Processors {
    /// The number of these processors.
    public static var usable: Int {
        var set = cpu_set_t()
        guard sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else { return 1 }
        return withUnsafeBytes(of: set) { $0.reduce(0) { $0 + $1.nonzeroBitCount } }
    }

    /// The most threads for one kind of work, unless the user asks for more.
    public static let mostThreads = 16

    /// The number of threads that keep the processors busy.
    public static let defaultThreads = min(usable, mostThreads)
}
