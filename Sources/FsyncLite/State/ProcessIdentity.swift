import FileSystem

/// A process of this machine. A later process can find out whether it has ended.
struct ProcessIdentity: Hashable, Codable, Sendable {
    let boot: String
    /// Containers have the same boot ID, but their own process IDs.
    let processNamespace: String
    let process: Int32
    /// In ticks since boot. It is needed because process IDs are used again.
    let started: UInt64

    static func own() throws -> ProcessIdentity {
        let process = HostProcess.id
        return ProcessIdentity(
            boot: try KernelClock.boot(), processNamespace: try HostProcess.processNamespace(),
            process: process, started: try HostProcess.start(of: process) ?? 0)
    }

    /// Whether it has certainly ended, as another process of the same machine sees it.
    func isOver(seenBy other: ProcessIdentity) throws -> Bool {
        guard boot == other.boot else { return true }
        guard processNamespace == other.processNamespace else { return false }
        return try HostProcess.start(of: process) != started
    }
}
