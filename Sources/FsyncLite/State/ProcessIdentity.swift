import FileSystem

/// A process of this machine, as a later one can tell whether it has ended.
struct ProcessIdentity: Hashable, Codable, Sendable {
    let boot: String
    /// Containers share the boot ID, and have process IDs of their own.
    let processNamespace: String
    let process: Int32
    /// In ticks since boot: a process ID is used again.
    let started: UInt64

    static func own() throws -> ProcessIdentity {
        let process = HostProcess.id
        return ProcessIdentity(
            boot: try KernelClock.boot(), processNamespace: try HostProcess.processNamespace(),
            process: process, started: try HostProcess.start(of: process) ?? 0)
    }

    /// Whether it has ended for certain, as another process of the same machine sees it.
    func isOver(seenBy other: ProcessIdentity) throws -> Bool {
        guard boot == other.boot else { return true }
        guard processNamespace == other.processNamespace else { return false }
        return try HostProcess.start(of: process) != started
    }
}
