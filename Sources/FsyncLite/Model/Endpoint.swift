import FileStorage
import FileSystem

/// A directory of another machine, as `host:path`, `user@host:path`, `[address]:path` or `ssh://user@host:port/path`.
public struct Endpoint: Hashable, Sendable {
    public let user: String?
    public let host: String
    public let port: UInt16?
    /// If it does not begin with `/`, it is relative to the directory in which the other machine's shell starts.
    public let path: [UInt8]

    /// The reason why text that names another machine is not an endpoint.
    public struct Fault: Error, Hashable, Sendable {
        public let reason: String
    }

    /// nil for a path on this machine: one without a colon before its first slash.
    ///
    /// - Throws: `Fault` for text that names another machine, but is invalid.
    public init?(_ text: [UInt8]) throws(Fault) {
        let (colon, slash) = (UInt8(ascii: ":"), UInt8(ascii: "/"))
        let scheme = Array("ssh://".utf8)
        let (authority, rest): (ArraySlice<UInt8>, ArraySlice<UInt8>)
        var port: UInt16?
        if text.starts(with: scheme) {
            let whole = text[scheme.count...]
            guard let end = whole.firstIndex(of: slash) else {
                throw Fault(reason: "a path is missing after the host")
            }
            (authority, port) = try Endpoint.splitPort(whole[..<end])
            // Git reads it in the same way.
            rest = whole[end...].starts(with: "/~".utf8) ? whole[(end + 1)...] : whole[end...]
        } else {
            let head = text.prefix { $0 != slash }
            guard let first = head.firstIndex(of: colon) else { return nil }
            var end = first
            if let open = head.firstIndex(of: UInt8(ascii: "[")), open < first {
                guard let close = head[open...].firstIndex(of: UInt8(ascii: "]")), close + 1 < head.count,
                    head[close + 1] == colon
                else { throw Fault(reason: "the address in brackets does not end with ]:") }
                end = close + 1
            } else if let address = Endpoint.bareAddress(head) {
                let path =
                    address.upperBound < text.count ? text[address.upperBound...] : Array(":PATH".utf8)[...]
                throw Fault(
                    reason: "an address with colons needs brackets: "
                        + escapedText(
                            text[..<address.lowerBound] + "[".utf8 + text[address] + "]".utf8 + path))
            }
            (authority, rest) = (text[..<end], text[(end + 1)...])
        }
        path = try Endpoint.path(rest)
        guard !path.isEmpty else { throw Fault(reason: "a path is missing after the host") }
        guard path.count <= 4095, !path.contains(0) else {
            throw Fault(reason: "its path has a zero byte or more than 4,095 bytes")
        }
        let parts = authority.split(
            separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
        var host = parts[parts.count - 1]
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(colon) {
            throw Fault(reason: "an address with colons needs brackets, such as [2001:db8::1]")
        }
        self.host = try Endpoint.word(host, "host")
        user = parts.count > 1 ? try Endpoint.word(parts[0], "user") : nil
        self.port = port
    }

    /// The IPv6 address without brackets at the start of a text, before any path; nil for a host and a path.
    private static func bareAddress(_ head: ArraySlice<UInt8>) -> Range<Int>? {
        let colon = UInt8(ascii: ":")
        let start = head.firstIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? head.startIndex
        guard let last = head.lastIndex(of: colon), start < last else { return nil }
        let groups = head[start..<last].prefix { $0 != UInt8(ascii: "%") }
        guard groups.contains(colon),
            groups.allSatisfy({ $0 == colon || Character(Unicode.Scalar($0)).isHexDigit })
        else { return nil }
        // An address cannot end with a single colon. If it would, the text is an address as a whole, without a path.
        let isWhole = groups.endIndex < last || groups.last != colon || groups.dropLast().last == colon
        return start..<(isWhole ? last : head.endIndex)
    }

    /// The path as the other machine's shell would read it: `~` is the home directory, in which that shell starts.
    private static func path(_ text: ArraySlice<UInt8>) throws(Fault) -> [UInt8] {
        guard text.first == UInt8(ascii: "~") else { return Array(text) }
        let name = text.prefix { $0 != UInt8(ascii: "/") }
        guard name.count == 1 else {
            throw Fault(
                reason: "\(escapedText(name)) is another user's home directory: write its path, or "
                    + "./\(escapedText(name)) for a directory of that name")
        }
        let path = text[name.endIndex...].drop { $0 == UInt8(ascii: "/") }
        return path.isEmpty ? [UInt8(ascii: ".")] : Array(path)
    }

    /// Checks that the text is neither an option of ssh nor special to a shell.
    private static func word(_ bytes: ArraySlice<UInt8>, _ what: String) throws(Fault) -> String {
        guard !bytes.isEmpty else { throw Fault(reason: "the \(what) is missing") }
        guard bytes.first != UInt8(ascii: "-") else {
            throw Fault(reason: "the \(what) begins with -, which ssh would read as an option")
        }
        let others = Set("._-:%@+\\".utf8)
        let isPlain = bytes.allSatisfy { $0.isLetterOrDigit || others.contains($0) }
        guard isPlain else { throw Fault(reason: "the \(what) has a character that no \(what) has") }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func splitPort(
        _ authority: ArraySlice<UInt8>
    ) throws(Fault) -> (ArraySlice<UInt8>, UInt16?) {
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")),
            !authority[colon...].contains(UInt8(ascii: "]"))
        else { return (authority, nil) }
        let digits = String(decoding: authority[(colon + 1)...], as: UTF8.self)
        guard let port = UInt16(digits), port > 0 else { throw Fault(reason: "the port is not a number") }
        return (authority[..<colon], port)
    }

    /// Whether both are reached in the same way.
    public func isOnSameMachine(as other: Endpoint) -> Bool {
        user == other.user && host == other.host && port == other.port
    }

    /// The host in the form for ssh, with the user if one was given.
    public var destination: String { user.map { "\($0)@\(host)" } ?? host }

    /// A path on that machine, in the form for display and documents.
    package func location(of path: [UInt8]) -> [UInt8] {
        let shown = host.contains(":") ? "[\(host)]" : host
        return Array((user.map { "\($0)@" } ?? "").utf8) + shown.utf8 + ":".utf8 + path
    }

    /// The form for display. Parsed, it gives the same endpoint again.
    public var bytes: [UInt8] { bytes(of: path) }

    /// The form for display of another path on that machine.
    package func bytes(of path: [UInt8]) -> [UInt8] {
        guard let port else { return location(of: path) }
        let shown = host.contains(":") ? "[\(host)]" : host
        let start = path.first != UInt8(ascii: "/") ? "/~/" : path.starts(with: "/~".utf8) ? "/" : ""
        return Array("ssh://\(user.map { "\($0)@" } ?? "")\(shown):\(port)\(start)".utf8) + path
    }
}

extension UInt8 {
    /// Whether it is a letter or a digit of ASCII.
    var isLetterOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }
}

extension SyncError.Code {
    /// Another machine cannot be reached, or the program that answers there does not speak this protocol.
    public static let unreachable = SyncError.Code(rawValue: "unreachable")
}

/// The way to reach another machine.
public struct RemoteAccess: Hashable, Sendable {
    public static let usualCommand = "fsync-lite"
    /// The path of an installed program, for the other machine's shell.
    static let installedCommand = "~/.local/bin/fsync-lite"

    /// The command in place of `ssh`, with its first arguments.
    public var ssh: [String]
    /// The `fsync-lite` of the other machine, for its shell.
    public var command: String
    /// The version of this program to install there if it has none; nil if it must not be installed.
    public var installs: String?

    public init(ssh: [String] = ["ssh"], command: String = usualCommand) {
        (self.ssh, self.command) = (ssh, command)
    }

    /// The command for the other machine's shell. It starts the program that answers.
    func program(isReadOnly: Bool) -> String {
        // A command with special characters is quoted.
        let others = Set("._-/".utf8)
        let isPlain = command.utf8.allSatisfy { $0.isLetterOrDigit || others.contains($0) }
        let program =
            isPlain || command == RemoteAccess.installedCommand
            ? command
            : "'" + command.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
                + "'"
        return "\(program) serve\(isReadOnly ? " --read-only" : "")"
    }

    /// The command line that makes a host's shell run a command.
    func words(to endpoint: Endpoint, running command: String) -> [[UInt8]] {
        let options = ["-T", "-a", "-x"] + port(of: endpoint) + ["--", endpoint.destination, command]
        return (ssh + options).map { Array($0.utf8) }
    }

    private func port(of endpoint: Endpoint) -> [String] { endpoint.port.map { ["-p", "\($0)"] } ?? [] }

    /// The same command line in the form for people.
    func line(to endpoint: Endpoint, _ command: String) -> String {
        escapedText((ssh + port(of: endpoint) + [endpoint.destination, command]).joined(separator: " ").utf8)
    }
}
