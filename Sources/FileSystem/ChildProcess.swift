import Glibc

/// A command of the machine, run to its end.
package struct ChildProcess: Sendable {
    /// The command, looked up in the PATH unless there is a slash in it, and its arguments.
    private let words: [String]

    package init(_ words: [String]) {
        self.words = words
    }

    /// Where a command without a slash is looked for.
    package static var searchPath: String { HostProcess.environment("PATH") ?? "/bin:/usr/bin" }

    /// Runs it, with its standard output going to our standard error: ours may be a document.
    ///
    /// - Parameter input: all that its standard input has.
    /// - Returns: its exit code; for one that a signal ended, 128 and the signal's number, as shells have it.
    /// - Throws: `noSuchFile` where there is no such command.
    package func run(input: [UInt8]) throws(Errno) -> Int32 {
        // A file and not a pipe: whoever does not read it need not be waited for.
        let file = FileDescriptor(
            owning: try retrying { memfd_create("fsync-lite input", UInt32(MFD_CLOEXEC)) })
        try input.withUnsafeBufferPointer { (bytes) throws(Errno) -> Void in
            try file.write(UnsafeRawBufferPointer(bytes), at: 0)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, file.rawValue, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        guard let command = arguments[0] else { throw .noSuchFile }
        // What we ignore a child would ignore too.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        let failure = posix_spawnp(&process, command, &actions, &attributes, arguments, environ)
        guard failure == 0 else { throw Errno(rawValue: failure) }
        var status: Int32 = 0
        _ = try retrying { waitpid(process, &status, 0) }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}
