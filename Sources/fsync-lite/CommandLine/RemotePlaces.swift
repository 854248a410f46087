import FsyncLite

extension Endpoint {
    /// A directory of another machine, as typed; nil for a local path.
    init?(argument path: [UInt8]) throws(UsageError) {
        do throws(Fault) {
            try self.init(path)
        } catch {
            throw UsageError(
                "\(quoted(path)) names another machine, but \(error.reason)",
                hint:
                    "give host:path, user@host:path, [address]:path or ssh://user@host:port/path\nfor a local directory "
                    + "of that name, write ./ before it")
        }
    }
}

extension OptionDescription {
    /// Whether its value names something on this machine, so it must not be sent to another one.
    var isOfThisMachine: Bool { ["FILE", "DIR", "COMMAND", "JOB"].contains(placeholder) }
}

/// The other paths of a command that are on the target's machine. If they are on several machines, the command runs here
/// and reads from the others.
struct RemotePlaces: Sendable {
    var arguments: [ArgumentDescription] = []
    var options: [OptionDescription] = []
}
