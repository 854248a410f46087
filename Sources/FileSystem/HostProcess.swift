import CLinux
import Glibc
import Synchronization

/// Properties of this process.
public enum HostProcess {
    /// The arguments as bytes, without the command's name. A path need not be UTF-8, and `CommandLine.arguments`
    /// replaces invalid bytes.
    public static var arguments: [[UInt8]] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            CommandLine.unsafeArgv[index].map { pointer in
                Array(UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
            }
        }
    }

    public static func workingDirectory() throws(SystemError) -> [UInt8] {
        guard let pointer = getcwd(nil, 0) else { throw SystemError("getcwd", [UInt8(ascii: ".")], .current) }
        defer { free(pointer) }
        return Array(UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
    }

    /// An environment variable; nil if it is not set.
    public static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// An empty file without a name, in TMPDIR or `/var/tmp`. A disk has more space than the memory.
    public static func temporaryFile() throws(SystemError) -> FileDescriptor {
        let directory = environment("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/var/tmp"
        var template = Array("\(directory)/fsync-lite-XXXXXX".utf8CString)
        return try calling("mkostemp", Array(directory.utf8)) { () throws(Errno) in
            let file = FileDescriptor(owning: try retrying { mkostemp(&template, O_CLOEXEC) })
            _ = try retrying { Glibc.unlink(template) }
            return file
        }
    }

    /// Whether the user can be asked for a password, because the process has a controlling terminal.
    public static var hasTerminal: Bool {
        let descriptor = Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return false }
        _ = FileDescriptor(owning: descriptor)
        return true
    }

    /// Returns large buffers to the kernel as soon as they are freed. A program's phases may need different ones.
    public static func returnLargeBuffers() {
        // The size of a chunk of a packed list, which malloc also uses by default until it frees the first one.
        _ = map_large_buffers(127 << 10)
        _ = keep_small_buffers(1 << 20)
    }

    /// The machine's memory in bytes.
    public static var memory: Int {
        max(sysconf(Int32(_SC_PHYS_PAGES)), 1) * max(sysconf(Int32(_SC_PAGESIZE)), 4096)
    }

    /// The machine's name; empty if it has none.
    public static var name: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, 255) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    public static var id: Int32 { getpid() }

    /// Identifies the machine, by its name and the number of its installation.
    public static func machine() throws(SystemError) -> String {
        var words = [try HostFile.line("/proc/sys/kernel/hostname")]
        if let number = machineID() { words.append(String(decoding: number, as: UTF8.self)) }
        return words.joined(separator: " ")
    }

    /// The namespace of process IDs.
    public static func processNamespace() throws(SystemError) -> String {
        let directory = try Directory.open(path: Array("/proc/self/ns".utf8))
        return String(decoding: try directory.destination(of: FileName("pid")), as: UTF8.self)
    }

    /// The start of a process, in ticks since boot; nil if it does not exist. See `proc_pid_stat(5)`.
    public static func start(of process: Int32) throws(SystemError) -> UInt64? {
        do throws(SystemError) {
            let line = try HostFile.line("/proc/\(process)/stat")
            // The command is in parentheses, and may contain spaces.
            let fields = line[(line.lastIndex(of: ")") ?? line.startIndex)...].split(separator: " ")
            // A zombie is treated as ended.
            guard fields.count > 20, !["Z", "X"].contains(fields[1]) else { return nil }
            return UInt64(fields[20])
        } catch {
            guard [.noSuchFile, Errno(rawValue: ESRCH)].contains(error.errno) else { throw error }
            return nil
        }
    }

    /// The user with whose rights a process runs; nil if the kernel does not show it. The owner of its directory
    /// differs if the process must not be dumped. See `proc_pid_status(5)`.
    public static func effectiveUser(of process: Int32) throws(SystemError) -> UInt32? {
        try field("Uid:", of: process).flatMap { $0.count > 2 ? UInt32($0[2]) : nil }
    }

    /// The words of a line of `/proc/PID/status`; nil if the process has ended.
    static func field(_ name: String, of process: Int32) throws(SystemError) -> [Substring]? {
        do throws(SystemError) {
            let lines = try HostFile.text("/proc/\(process)/status").split(separator: "\n")
            return lines.first { $0.hasPrefix(name) }?.split(separator: "\t")
        } catch {
            guard [.noSuchFile, .accessDenied, Errno(rawValue: ESRCH)].contains(error.errno) else {
                throw error
            }
            return nil
        }
    }

    /// Whether root is not the machine's root. Then some files may have no owner here.
    public static func isInUserNamespace() throws(SystemError) -> Bool {
        try !HostFile.line("/proc/self/uid_map").split(separator: " ").elementsEqual(["0", "0", "4294967295"])
    }

    /// The number of this user's processes with the same command line, this one included.
    public static func countOfSame() throws(SystemError) -> Int {
        let own = try HostFile.bytes("/proc/self/cmdline")
        let all = try Directory.open(path: Array("/proc".utf8))
        var count = 0
        for name in try DirectoryListing.names(in: all)
        where UInt8(ascii: "1")...UInt8(ascii: "9") ~= name.bytes[0] {
            do throws(SystemError) {
                guard try all.directory(name).status().owner == geteuid() else { continue }
                count += try HostFile.bytes("/proc/\(name)/cmdline") == own ? 1 : 0
            } catch {
                // It has ended.
            }
        }
        return count
    }

    /// The bytes of memory that only this process uses. See `proc_pid_statm(5)`.
    public static func ownMemory() throws(SystemError) -> Int64 {
        let pages = try HostFile.line("/proc/self/statm").split(separator: " ").compactMap { Int64($0) }
        return pages.count > 2 ? (pages[1] - pages[2]) * Int64(max(sysconf(Int32(_SC_PAGESIZE)), 4096)) : 0
    }

    /// Limits the number of open files from now on. Call it before anything else is opened.
    public static func limitOpenFiles(to count: Int) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_max = min(limit.rlim_max, rlim_t(count))
        limit.rlim_cur = min(limit.rlim_cur, limit.rlim_max)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Opens `/dev/null` in place of each standard stream that is closed. Else a later descriptor, such as a pipe to
    /// another process, would get its number, and the output of this process. Call it before anything else.
    public static func openStandardStreams() throws(SystemError) {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // It gets the lowest free number, which is this one. Children inherit it.
            try calling("open", Array("/dev/null".utf8)) { () throws(Errno) in
                _ = try retrying { Glibc.open("/dev/null", O_RDWR) }
            }
        }
    }

    public static func exit(_ code: Int32) -> Never {
        Glibc.exit(code)
    }

    /// Sends a signal to this process.
    public static func interrupt(_ signal: Int32) { kill(getpid(), signal) }

    /// Removes from the umask the bits that would close new objects to their owner.
    public static func keepAccessToNewFiles() { umask(umask(0o077) & 0o077) }

    /// Lets this process go on when its terminal is closed.
    public static func ignoreHangUps() { signal(SIGHUP, SIG_IGN) }
}

/// Receives the output to the standard streams, and sends it to another machine.
public protocol StandardStreamRelay: Sendable {
    func write(_ bytes: [UInt8], to stream: StandardStream)
    func isTerminal(_ stream: StandardStream) -> Bool
    func understandsEscapes(_ stream: StandardStream) -> Bool
    func columns(_ stream: StandardStream) -> Int?
}

/// Standard output or standard error.
public struct StandardStream: Equatable, Sendable {
    private let descriptor: Int32

    private static let shared = Mutex<(any StandardStreamRelay)?>(nil)

    /// nil if the streams of this process are used.
    public static var relay: (any StandardStreamRelay)? {
        get { shared.withLock(\.self) }
        set { shared.withLock { $0 = newValue } }
    }

    public static let output = StandardStream(descriptor: STDOUT_FILENO)
    public static let error = StandardStream(descriptor: STDERR_FILENO)

    public var isTerminal: Bool { StandardStream.relay?.isTerminal(self) ?? (isatty(descriptor) == 1) }

    /// Whether it is a terminal that understands escape sequences.
    public var understandsEscapes: Bool {
        if let relay = StandardStream.relay { return relay.understandsEscapes(self) }
        return isTerminal && HostProcess.environment("TERM").map { !$0.isEmpty && $0 != "dumb" } ?? false
    }

    /// The present width of the terminal; nil if it does not report one.
    public var columns: Int? {
        if let relay = StandardStream.relay { return relay.columns(self) }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes all bytes. If a disk behind standard output is full, this is an error.
    public func write(_ bytes: [UInt8]) throws(SystemError) {
        if let relay = StandardStream.relay { return relay.write(bytes, to: self) }
        let name = descriptor == STDOUT_FILENO ? "standard output" : "standard error"
        try calling("write", Array(name.utf8)) { () throws(Errno) in
            try FileDescriptor.write(bytes, to: descriptor)
        }
    }
}
