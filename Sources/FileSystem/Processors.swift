import Glibc

/// The processors that this process may use.
package enum Processors {
    /// Their number.
    package static var usable: Int {
        var set = cpu_set_t()
        guard sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else { return 1 }
        return withUnsafeBytes(of: set) { $0.reduce(0) { $0 + $1.nonzeroBitCount } }
    }

    /// The most threads that are started for one kind of work unless the user asks for more.
    package static let mostThreads = 16

    /// The number of threads that keep the processors busy.
    package static let defaultThreads = min(usable, mostThreads)
}
