import Glibc
import Synchronization

/// A child process whose standard streams are pipes to this process.
///
/// It runs with INT and QUIT blocked. A Ctrl-C at the terminal is for this process, which ends the child.
public final class ConnectedProcess: Sendable {
    private let id: pid_t
    /// The exit code, once `waitpid` has reported it.
    private let ended = Mutex<Int32?>(nil)
    public let output: FileDescriptor
    public let errors: FileDescriptor
    /// Its standard input; nil once it is closed.
    private let input: Mutex<Int32?>

    /// - Parameter words: the command, looked up in PATH unless it contains a slash, and its arguments.
    /// - Throws: `noSuchFile` if the command does not exist.
    public init(_ words: [[UInt8]]) throws(Errno) {
        let input = try ConnectedProcess.pipe()
        let output = try ConnectedProcess.pipe()
        let errors = try ConnectedProcess.pipe()
        id = try ChildProcess.spawn(
            words,
            giving: [
                (input.read.rawValue, STDIN_FILENO), (output.write.rawValue, STDOUT_FILENO),
                (errors.write.rawValue, STDERR_FILENO),
            ], blocking: [SIGINT, SIGQUIT])
        let raw = input.write.release()
        self.input = Mutex(raw)
        self.output = FileDescriptor(owning: output.read.release())
        self.errors = FileDescriptor(owning: errors.read.release())
    }

    deinit {
        closeInput()
        end()
    }

    private struct Pipe: ~Copyable {
        var read: End
        var write: End
    }

    /// An end of a pipe. It is closed unless it is released.
    private struct End: ~Copyable {
        let rawValue: Int32

        consuming func release() -> Int32 {
            let value = rawValue
            discard self
            return value
        }

        deinit { _ = Glibc.close(rawValue) }
    }

    private static func pipe() throws(Errno) -> Pipe {
        var ends: (Int32, Int32) = (0, 0)
        _ = try withUnsafeMutablePointer(to: &ends) { (ends) throws(Errno) in
            try ends.withMemoryRebound(to: Int32.self, capacity: 2) { (ends) throws(Errno) in
                try retrying { pipe2(ends, O_CLOEXEC) }
            }
        }
        return Pipe(read: End(rawValue: ends.0), write: End(rawValue: ends.1))
    }

    /// Writes all bytes to its standard input. Only one thread may call it, and not the main thread. In other threads,
    /// a broken pipe is an error and no signal.
    public func write(_ bytes: [UInt8]) throws(Errno) {
        var written = 0
        while written < bytes.count {
            guard let input = input.withLock({ $0 }) else { throw .badDescriptor }
            written += try bytes.withUnsafeBytes { buffer in
                Result { () throws(Errno) -> Int in
                    try retrying {
                        Glibc.write(input, buffer.baseAddress.map { $0 + written }, buffer.count - written)
                    }
                }
            }.get()
        }
    }

    /// Closes its standard input.
    public func closeInput() {
        input.withLock { input in
            if let input { _ = Glibc.close(input) }
            input = nil
        }
    }

    /// Waits for its end, for at most `pause`.
    ///
    /// - Returns: the exit code, or 128 plus the number of the signal that ended it; nil if it still runs.
    public func wait(atMost pause: Duration) -> Int32? {
        let end = ContinuousClock.now + pause
        while true {
            if let code = poll() { return code }
            guard ContinuousClock.now < end else { return nil }
            usleep(2000)
        }
    }

    private func poll() -> Int32? {
        ended.withLock { ended in
            if ended == nil {
                var status: Int32 = 0
                if waitpid(id, &status, WNOHANG) == id {
                    ended = ChildProcess.exitCode(status)
                }
            }
            return ended
        }
    }

    /// Ends it with TERM, and after a second with KILL.
    public func end() {
        guard poll() == nil else { return }
        kill(id, SIGTERM)
        if wait(atMost: .seconds(1)) == nil {
            kill(id, SIGKILL)
            _ = wait(atMost: .seconds(1))
        }
    }
}

extension FileDescriptor {
    /// Waits until there is input or the end of the input; false on timeout.
    public func waitForInput(milliseconds: Int32) throws(Errno) -> Bool {
        var request = pollfd(fd: rawValue, events: Int16(POLLIN), revents: 0)
        return try retrying { poll(&request, 1, milliseconds) } > 0
    }

    /// A copy of this process's standard input, with a descriptor of its own.
    public static func standardInput() throws(Errno) -> FileDescriptor { try copy(of: STDIN_FILENO) }
    /// A copy of its standard output.
    public static func standardOutput() throws(Errno) -> FileDescriptor { try copy(of: STDOUT_FILENO) }

    private static func copy(of descriptor: Int32) throws(Errno) -> FileDescriptor {
        FileDescriptor(owning: try retrying { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) })
    }
}

extension HostProcess {
    /// Ignores the signal: a write to a pipe without a reader fails with `EPIPE` instead.
    public static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// The permanent id of this machine as text, for hashing; nil if there is none.
    public static func machineID() -> [UInt8]? {
        guard let text = try? HostFile.bytes("/etc/machine-id") else { return nil }
        let id = text.prefix { $0 > UInt8(ascii: " ") }
        return id.isEmpty ? nil : Array(id)
    }
}
