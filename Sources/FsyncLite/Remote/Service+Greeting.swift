import FileStorage
import FileSystem

extension Service {
    /// The wish of a client: to read from this machine, or to run a command.
    public enum Order {
        case source(Service)
        case command(Client)
    }

    /// Greets a client, over the standard streams of this process.
    ///
    /// - Parameters:
    ///   - restriction: the directory beneath which everything is served; nil for no limit.
    ///   - snapshots: opens the snapshots of targets here.
    ///   - timeout: the longest time with only signs of life when something is due; nil for the usual one.
    ///   - memory: the bytes that this process may use.
    ///   - onSilence: called if a client that reads a source was silent for too long.
    package static func greet(
        beneath restriction: ServedDirectory?, _ snapshots: Snapshots, timeout: Duration?, memory: Int,
        onSilence: @escaping @Sendable () -> Void
    ) throws -> Order {
        let connection = try StandardConnection()
        do {
            let welcome = try Welcome(connection, timeout: timeout, memory: memory)
            switch welcome.first.type {
            case .run: return .command(try Client(welcome))
            default:
                return .source(
                    Service(
                        try ServiceLink(welcome, onSilence: onSilence), .any(beneath: restriction, snapshots))
                )
            }
        } catch let end as ServiceLink.Ended {
            throw SyncError(.unreachable, end.reason ?? "the other machine has closed the connection")
        } catch let error as WireError {
            throw SyncError(.unreachable, error.reason)
        } catch let error as Errno {
            throw SyncError(.unreachable, "\(error)")
        }
    }
}
