import Foundation
import Glibc

/// The built command, stopped at chosen system calls, so that a test can change something at exactly that
/// moment. It needs strace.
package final class PausedCommand {
    /// The calls after which it stops.
    package struct Point: Sendable, CustomStringConvertible {
        let call: String
        let name: String?
        let count: String

        /// - Parameters:
        ///   - call: the kernel's name of the call.
        ///   - name: only calls with this name as an argument. With a slash: only calls on a descriptor of
        ///     the file at this path in the command's working directory. A slash at its beginning is ignored.
        ///   - number: which of these calls, from 1.
        package static func after(_ call: String, of name: String? = nil, number: Int = 1) -> Point {
            Point(call: call, name: name, count: "\(number)")
        }

        /// Every call from this number on.
        package static func every(_ call: String, of name: String? = nil, from number: Int = 1) -> Point {
            Point(call: call, name: name, count: "\(number)+")
        }

        func path(in directory: String) -> String? {
            guard let name, name.contains("/") else { return name }
            return directory + (name.hasPrefix("/") ? "" : "/") + name
        }

        package var description: String { "\(call) \(name ?? "") \(count)" }
    }

    private struct NeverStopped: Error, CustomStringConvertible {
        let description: String
    }

    private let running: RunningCommand
    private let files: TemporaryDirectory
    private let log: Int32
    private var unread: [UInt8] = []
    private var process: pid_t?
    private var secondsWaited = 0

    /// Starts it. Call `waitForPause` next.
    package init(
        _ arguments: [String], in directory: String, at point: Point, environment: [String: String] = [:],
        errors: Terminal? = nil
    ) throws {
        files = try TemporaryDirectory()
        let path = "\(files.path)/log"
        guard mkfifo(path, 0o600) == 0 else { throw NeverStopped(description: "no FIFO") }
        log = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        running = try RunningCommand(
            arguments, in: directory,
            under: ["strace", "-f", "-qq", "-o", path]
                + (point.path(in: directory).map { ["-P", $0] } ?? [])
                + [
                    "-e", "trace=\(point.call)", "-e",
                    "inject=\(point.call):signal=SIGSTOP:when=\(point.count)",
                ], environment: environment, errors: errors)
    }

    deinit {
        kill()
        close(log)
    }

    /// Ends it at its present point, and waits for that.
    package func kill() {
        guard running.isRunning else { return }
        if let process { Glibc.kill(process, SIGKILL) } else { running.kill() }
        // The log ends with strace, and the lock with the process.
        while nextLine() != nil {}
        guard let process else { return }
        for _ in 0..<10_000 where Glibc.kill(process, 0) == 0 { usleep(1000) }
    }

    /// Waits until it stops at a point, or ends.
    ///
    /// - Returns: whether it has stopped.
    package func waitForPause() throws -> Bool {
        while let line = nextLine() {
            let words = line.split(separator: " ")
            guard line.contains("--- stopped by SIGSTOP"), let thread = words.first.flatMap({ pid_t($0) })
            else { continue }
            // Each thread reports the stop. The process has the number of its first thread.
            guard isFirstThread(thread) else { continue }
            process = thread
            return true
        }
        return false
    }

    /// Sends a signal, which it receives when it continues.
    package func send(_ signal: Int32) {
        if let process { Glibc.kill(process, signal) }
    }

    /// Lets it continue.
    package func resume() {
        if let process { Glibc.kill(process, SIGCONT) }
    }

    /// Lets it continue to its end. Later points are ignored.
    package func finish() throws -> CommandRun {
        resume()
        while try waitForPause() { resume() }
        return try running.finish()
    }

    /// Runs the command, and runs `body` at the one point where it stops.
    package static func run(
        _ arguments: [String], in directory: String, at point: Point, _ body: () throws -> Void
    ) throws -> CommandRun {
        let command = try PausedCommand(arguments, in: directory, at: point)
        guard try command.waitForPause() else {
            let run = try command.finish()
            throw NeverStopped(description: "it never came to \(point): \(run.code) \(run.errors)")
        }
        try body()
        return try command.finish()
    }

    private func nextLine() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            var poller = pollfd(fd: log, events: Int16(POLLIN), revents: 0)
            // strace may fail before it opens the log.
            guard poll(&poller, 1, 1000) > 0 else {
                secondsWaited += 1
                if secondsWaited > 600 { running.kill() }
                if !running.isRunning { return nil }
                continue
            }
            secondsWaited = 0
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(log, &buffer, buffer.count)
            guard count > 0 else { return nil }
            unread += buffer.prefix(count)
        }
    }

    private func isFirstThread(_ thread: pid_t) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(thread)/status", encoding: .utf8) else {
            return false
        }
        return status.contains("\nTgid:\t\(thread)\n")
    }

    // MARK: Whether it can be done here

    package static let isAvailable = HostCommand.works(
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=none", "true")
}
