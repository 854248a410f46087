import Glibc
import Synchronization

/// Asks a run to stop: the signals INT and TERM set a flag that the run looks at where it can stop.
///
/// A second signal changes nothing, so it cannot tear a run apart either.
package enum TerminationSignal {
    /// The signal's number; 0 while there is none.
    private static let received = Atomic<Int32>(0)

    package static let terminate = SIGTERM

    /// From here on the signals no longer end the process by themselves.
    package static func watch() {
        // The first use of a static makes it, under a lock that is no handler's to take.
        _ = signal
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            _ = TerminationSignal.received.compareExchange(
                expected: 0, desired: number, ordering: .sequentiallyConsistent)
        }
        action.sa_flags = SA_RESTART
        // Whoever started us may have blocked them, and a mask is inherited.
        var wanted = sigset_t()
        sigemptyset(&wanted)
        for number in [SIGINT, SIGTERM] {
            sigaction(number, &action, nil)
            sigaddset(&wanted, number)
        }
        pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
        // Whoever reads the report may leave; what is done is done all the same.
        Glibc.signal(SIGPIPE, SIG_IGN)
    }

    /// The first signal that came; nil while there is none.
    package static var signal: Int32? {
        let number = received.load(ordering: .sequentiallyConsistent)
        return number == 0 ? nil : number
    }
}
