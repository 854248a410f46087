import Glibc

/// An external command that runs to its end.
public struct ChildProcess: Sendable {
    /// The command, looked up in PATH unless it contains a slash, and its arguments.
    private let words: [String]

    public init(_ words: [String]) {
        self.words = words
    }

    public static var searchPath: String { HostProcess.environment("PATH") ?? "/bin:/usr/bin" }

    /// Runs the command. Its standard output is sent to our standard error, because ours may carry a document.
    ///
    /// - Parameters:
    ///   - input: the content of its standard input.
    ///   - variables: added to its environment, which is that of this process.
    /// - Returns: the exit code; 128 plus the signal's number if a signal ended it, as in shells.
    /// - Throws: `noSuchFile` if the command does not exist.
    public func run(input: [UInt8], variables: [String: String] = [:]) throws(Errno) -> Int32 {
        // A file instead of a pipe: a child that does not read its input must not block us.
        let file = try FileDescriptor.inMemory(input)
        return try ChildProcess.run(
            words.map { Array($0.utf8) },
            giving: [(file.rawValue, STDIN_FILENO), (STDERR_FILENO, STDOUT_FILENO)], variables: variables)
    }

    /// Runs a command to its end; see `spawn`.
    ///
    /// - Returns: the exit code; 128 plus the signal's number if a signal ended it, as in shells.
    static func run(
        _ words: [[UInt8]], giving descriptors: [(own: Int32, child: Int32)], variables: [String: String]
    ) throws(Errno) -> Int32 {
        let process = try spawn(words, giving: descriptors, variables: variables)
        var status: Int32 = 0
        _ = try retrying { waitpid(process, &status, 0) }
        return exitCode(status)
    }

    /// Starts a command.
    ///
    /// - Parameters:
    ///   - words: the command, looked up in PATH unless it contains a slash, and its arguments.
    ///   - descriptors: those of this process that it gets, each with its number there. They are given in this order.
    ///   - variables: added to its environment, which is that of this process.
    ///   - blocked: the only signals that are blocked in it. If empty, the signals that are blocked here.
    /// - Throws: `noSuchFile` if the command does not exist.
    static func spawn(
        _ words: [[UInt8]], giving descriptors: [(own: Int32, child: Int32)],
        variables: [String: String] = [:], blocking blocked: [Int32] = []
    ) throws(Errno) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (own, child) in descriptors { posix_spawn_file_actions_adddup2(&actions, own, child) }
        let arguments = words.map { strdup($0 + [0]) } + [nil]
        let own = variables.map { strdup(Array("\($0)=\($1)".utf8) + [0]) }
        defer { for text in arguments + own { free(text) } }
        var (inherited, count): ([UnsafeMutablePointer<CChar>?], Int) = ([], 0)
        while let variable = environ[count] {
            if !variables.keys.contains(where: { strncmp(variable, "\($0)=", $0.utf8.count + 1) == 0 }) {
                inherited.append(variable)
            }
            count += 1
        }
        guard let command = arguments[0] else { throw .noSuchFile }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // If a parent ignored SIGCHLD, the kernel keeps no exit code for `waitpid`.
        signal(SIGCHLD, SIG_DFL)
        // A child inherits the ignored signals and the mask.
        var (defaults, mask) = (sigset_t(), sigset_t())
        sigemptyset(&defaults)
        for number in TerminationSignal.ignored { sigaddset(&defaults, number) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        var flags = POSIX_SPAWN_SETSIGDEF
        if !blocked.isEmpty {
            sigemptyset(&mask)
            for signal in blocked { sigaddset(&mask, signal) }
            posix_spawnattr_setsigmask(&attributes, &mask)
            flags |= POSIX_SPAWN_SETSIGMASK
        }
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var process = pid_t()
        let failure = posix_spawnp(
            &process, command, &actions, &attributes, arguments, own + inherited + [nil])
        guard failure == 0 else { throw Errno(rawValue: failure) }
        return process
    }

    private static func strdup(_ text: [UInt8]) -> UnsafeMutablePointer<CChar>? {
        withCString(terminated: text) { Glibc.strdup($0) }
    }

    /// - Parameter status: as `waitpid` gives it.
    /// - Returns: the exit code; 128 plus the signal's number if a signal ended it, as in shells.
    static func exitCode(_ status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}
