import Glibc

/// Properties of this process.
public enum HostProcess {
    /// The arguments as bytes, without the command's name: a path need not be UTF-8, and `CommandLine.arguments`
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

    public static var id: Int32 { getpid() }

    public static func exit(_ code: Int32) -> Never {
        Glibc.exit(code)
    }
}

/// Standard output or standard error.
public struct StandardStream: Sendable {
    private let descriptor: Int32

    public static let output = StandardStream(descriptor: STDOUT_FILENO)
    public static let error = StandardStream(descriptor: STDERR_FILENO)

    public var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Whether it is a terminal that understands escape sequences.
    public var understandsEscapes: Bool {
        isTerminal && HostProcess.environment("TERM").map { !$0.isEmpty && $0 != "dumb" } ?? false
    }

    /// The present width of the terminal; nil if it does not report one.
    public var columns: Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes all bytes. A full disk behind standard output is an error.
    public func write(_ bytes: [UInt8]) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let name = descriptor == STDOUT_FILENO ? "standard output" : "standard error"
            written += try calling("write", Array(name.utf8)) { () throws(Errno) -> Int in
                try bytes.withUnsafeBytes { buffer in
                    Result { () throws(Errno) -> Int in
                        try retrying {
                            Glibc.write(
                                descriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written)
                        }
                    }
                }.get()
            }
        }
    }
}
