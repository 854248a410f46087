import Glibc
import Synchronization

/// Handles INT and TERM. The first signal sets a flag. The run checks it whenever it can stop.
///
/// The second signal ends the process, which may hang in a read of the source. It does not end a commit. If the main
/// thread hangs and does not receive the signal, another thread does.
public enum TerminationSignal {
    /// The signal's number; 0 for none.
    private static let received = Atomic<Int32>(0)
    private static let mustFinish = Atomic(false)

    public static let terminate = SIGTERM
    public static let all = [SIGINT, SIGTERM]
    /// If the reader of our output exits, the run still finishes. A file over its size limit is an error of the write.
    static let ignored = [SIGPIPE, SIGXFSZ]

    public static func watch() { watching }

    /// Handles HUP, too: the terminal is closed. `nohup` ignores it.
    public static func watchHangUp() {
        watch()
        let previous = Glibc.signal(SIGHUP) { TerminationSignal.take($0) }
        if unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
            _ = Glibc.signal(SIGHUP, SIG_IGN)
        }
    }

    /// Makes a second signal have no effect, or have it again.
    public static func finishes(_ isCommitting: Bool) {
        mustFinish.store(isCommitting, ordering: .sequentiallyConsistent)
    }

    private static let watching: Void = {
        // Initializes the statics now. Their first use takes a lock, which a signal handler must not.
        _ = (signal, mustFinish.load(ordering: .relaxed))
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { TerminationSignal.take($0) }
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
        let set = wanted
        // If the system has no threads left, only the main thread receives them.
        try? WorkerThread().start {
            while true {
                var (pause, none, set) = (timespec(tv_sec: 0, tv_nsec: 200_000_000), timespec(), set)
                nanosleep(&pause, nil)
                let number = sigtimedwait(&set, nil, &none)
                if number > 0 { take(number) }
            }
        }
    }()

    private static func take(_ number: Int32) {
        let isFirst = received.compareExchange(
            expected: 0, desired: number, ordering: .sequentiallyConsistent
        ).exchanged
        guard !isFirst, !mustFinish.load(ordering: .sequentiallyConsistent) else { return }
        let text: StaticString =
            "fsync-lite: a second signal: ended before a commit; the target is unchanged\n"
        write(2, text.utf8Start, text.utf8CodeUnitCount)
        // Ends all threads, even those that wait.
        _exit(128 + number)
    }

    /// The first signal received; nil for none.
    public static var signal: Int32? {
        let number = received.load(ordering: .sequentiallyConsistent)
        return number == 0 ? nil : number
    }
}
