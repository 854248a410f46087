import Glibc

/// Properties of this process.
package enum HostProcess {
    /// The arguments as bytes, without the command's name: a path need not be UTF-8, and `CommandLine.arguments`
    /// replaces invalid bytes.
    package static var arguments: [[UInt8]] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            CommandLine.unsafeArgv[index].map { pointer in
                Array(UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
            }
        }
    }

    package static func workingDirectory() throws(SystemError) -> [UInt8] {
        guard let pointer = getcwd(nil, 0) else { throw SystemError("getcwd", [UInt8(ascii: ".")], .current) }
        defer { free(pointer) }
        return Array(UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
    }

    /// An environment variable; nil if it is not set.
    package static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    package static var id: Int32 { getpid() }

    package static func exit(_ code: Int32) -> Never {
        Glibc.exit(code)
    }
}

/// Standard output or standard error.
package struct StandardStream: Sendable {
    private let descriptor: Int32

    package static let output = StandardStream(descriptor: STDOUT_FILENO)
    package static let error = StandardStream(descriptor: STDERR_FILENO)

    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Whether it is a terminal that understands escape sequences.
    package var understandsEscapes: Bool {
        isTerminal && HostProcess.environment("TERM").map { !$0.isEmpty && $0 != "dumb" } ?? false
    }

    /// The present width of the terminal; nil if it does not report one.
    package var columns: Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes all bytes. A full disk behind standard output is an error.
    package func write(_ bytes: [UInt8]) throws(SystemError) {
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
