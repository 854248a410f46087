import Glibc
import Synchronization

/// Handles INT and TERM: the first one sets a flag that the run checks where it can stop.
///
/// A second signal has no effect, so it cannot interrupt a commit either.
public enum TerminationSignal {
    /// The signal's number; 0 for none.
    private static let received = Atomic<Int32>(0)

    public static let terminate = SIGTERM
    public static let all = [SIGINT, SIGTERM]
    /// If the reader of our output goes away, the run still finishes; a file over its limit is an error of the write.
    static let ignored = [SIGPIPE, SIGXFSZ]

    public static func watch() {
        // Initializes the static now: its first use takes a lock, which a handler must not.
        _ = signal
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            _ = TerminationSignal.received.compareExchange(
                expected: 0, desired: number, ordering: .sequentiallyConsistent)
        }
        action.sa_flags = SA_RESTART
        // The parent process may have blocked them, and the mask is inherited.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in all {
            sigaction(number, &action, nil)
            sigaddset(&wanted, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
        for number in ignored { Glibc.signal(number, SIG_IGN) }
    }

    /// The first signal received; nil for none.
    public static var signal: Int32? {
        let number = received.load(ordering: .sequentiallyConsistent)
        return number == 0 ? nil : number
    }
}
