import FileStorage
import FileSystem

extension Service {
    /// What a client wants that has connected to this machine.
    public enum Order {
        case source(Service)
        case command(Client)
    }

    /// Greets a client, over the standard streams of this process.
    ///
    /// - Parameters:
    ///   - restriction: serve only what lies beneath this directory.
    ///   - snapshots: of the targets there.
    ///   - timeout: how long it may owe something and send only signs of life.
    ///   - memory: what this process may use.
    ///   - onSilence: called where the client of a source has said nothing for too long.
    package static func greet(
        input: consuming FileDescriptor, output: consuming FileDescriptor,
        beneath restriction: ServedDirectory?, _ snapshots: Snapshots, timeout: LineTimeout, memory: Int,
        onSilence: @escaping @Sendable () -> Void
    ) throws -> Order {
        do {
            let welcome = try Welcome(
                StandardConnection(input: input, output: output), timeout: timeout, memory: memory)
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
