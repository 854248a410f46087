import FileSystem
import FsyncLite

/// Stops a run when a signal came, and passes the rest on.
struct RunMonitor: Monitor {
    let display: TerminalMonitor?

    func report(_ progress: Progress) {
        display?.report(progress)
    }

    func warn(_ message: String) {
        display?.clear()
        Console.complain(message)
    }

    var isCancelled: Bool { Interruption.signal != nil }
}
