import FileStorage
import FileSystem
import Synchronization

/// The process that connects to another machine, usually ssh, and the reasons of its failures.
final class FarProcess: Connection {
    private let process: ConnectedProcess
    /// The end of the process's standard error.
    private let complaints = Mutex<[UInt8]>([])
    private let complaintsEnded = Semaphore()
    private let isClosed = Mutex(false)
    private let endpoint: Endpoint
    private let access: RemoteAccess
    private let ended = Mutex<Int32?>(nil)

    /// Its exit code, if it reached the machine and no fsync-lite answered; otherwise nil. It is known after
    /// `reasonOfEnd` was called.
    var codeWithoutAnswer: Int32? { ended.withLock(\.self) }

    /// - Parameter command: for the shell of the other machine.
    init(to endpoint: Endpoint, _ access: RemoteAccess, running command: String) throws {
        (self.endpoint, self.access) = (endpoint, access)
        do throws(Errno) {
            process = try ConnectedProcess(access.words(to: endpoint, running: command))
        } catch {
            let command = access.ssh.first ?? "ssh"
            throw SyncError(
                .unreachable, path: endpoint.bytes,
                (error == .noSuchFile
                    ? "there is no \(command) here: install it (openssh-client), or name another command with --ssh"
                    : "\(command) could not be started: \(error)") + FarProcess.localHint(endpoint))
        }
        do {
            try WorkerThread().start { [self] in readErrors() }
        } catch {
            process.end()
            throw error
        }
    }

    /// Stops at the first error, because this text is only shown to people.
    private func readErrors() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
        defer {
            buffer.deallocate()
            complaintsEnded.signal()
        }
        while !isClosed.withLock(\.self) {
            guard let isThere = try? process.errors.waitForInput(milliseconds: 500) else { return }
            guard isThere else { continue }
            guard let count = try? process.errors.read(into: buffer), count > 0 else { return }
            complaints.withLock { text in
                text.append(contentsOf: buffer[..<count])
                let surplus = text.count - WireFormat.longestText
                if surplus > 0 { text.removeFirst(surplus) }
            }
        }
    }

    func waitForInput(milliseconds: Int32) throws(Errno) -> Bool {
        try process.output.waitForInput(milliseconds: milliseconds)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try process.output.read(into: buffer)
    }

    func write(_ bytes: [UInt8]) throws(Errno) { try process.write(bytes) }

    func close() {
        isClosed.withLock { $0 = true }
        process.end()
    }

    /// Closes the standard input, and gives the process time to end by itself.
    ///
    /// - Returns: its exit code; nil if it does not end.
    func end(atMost time: Duration = .seconds(WireFormat.patience)) -> Int32? {
        process.closeInput()
        return process.wait(atMost: time)
    }

    /// The last lines of its standard error, after it has ended or when it is about to.
    var complaint: String? {
        _ = complaintsEnded.wait(atMost: .milliseconds(500))
        return complaintSoFar
    }

    private var complaintSoFar: String? {
        let lines = complaints.withLock(\.self).split(separator: UInt8(ascii: "\n")).suffix(3)
        let text = lines.map { escapedText($0.filter { $0 != UInt8(ascii: "\r") }) }.joined(separator: "; ")
        // The sentence continues after it.
        return text.isEmpty ? nil : text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    func reasonOfEnd(unread: ArraySlice<UInt8>, isGreeted: Bool, _ activity: String) -> String {
        let code = unread.isEmpty ? process.wait(atMost: .seconds(2)) : nil
        let complaint = code == nil ? complaintSoFar : self.complaint
        let reason = complaint.map { ": \($0)" } ?? ""
        if isGreeted { return "the connection was lost\(activity)\(reason)" }
        return reasonOfNoAnswer(unread, code, complaint, reason) + FarProcess.localHint(endpoint)
    }

    private func reasonOfNoAnswer(
        _ unread: ArraySlice<UInt8>, _ code: Int32?, _ complaint: String?, _ reason: String
    ) -> String {
        if !unread.isEmpty, Greeting.frame().starts(with: unread) {
            return
                "the connection was lost before fsync-lite answered\(reason). To try it: "
                + trial("\(access.command) --version")
        }
        if !unread.isEmpty {
            // The first line that is not empty.
            let printed = unread.drop { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.prefix(200)
            let line = printed.prefix { $0 >= UInt8(ascii: " ") }
            let text = line.isEmpty ? printed.prefix(40) : line
            return
                "the shell of that machine prints \"\(escapedText(text))\" before fsync-lite answers: its startup files must print nothing if there is no terminal. To see it: \(trial("true"))"
        }
        // With code 255, ssh says why it cannot connect.
        if code == 255, let complaint { return "ssh could not connect\(reason)\(advice(complaint))" }
        ended.withLock { $0 = code }
        let isNamed = ![RemoteAccess.usualCommand, RemoteAccess.installedCommand].contains(access.command)
        let name = escapedText(access.command.utf8)
        let help =
            (isNamed ? "" : "install it with --install, or ") + "give its path with --remote-command"
        return switch code {
        case 126: "\(name) cannot be run on that machine; \(help)\(reason)"
        case 127 where isNamed: "that machine has no \(name); \(help)\(reason)"
        case 127: "that machine has no fsync-lite, or its shell does not find it; \(help)\(reason)"
        case 64:
            "its fsync-lite is another version, which cannot serve\(reason). To see it: \(trial("\(access.command) --version"))"
        default:
            "it ended without an answer, with exit code \(code ?? 0)\(reason). If that machine has no \(name): \(help). "
                + "To try it: \(trial("\(access.command) --version"))"
        }
    }

    var hint: String { FarProcess.localHint(endpoint) }

    /// How to name a directory of this machine, if the endpoint may mean one; otherwise empty.
    private static func localHint(_ endpoint: Endpoint) -> String {
        // An error of this check gives no hint.
        guard let isHere = try? LocalFile(bytes: endpoint.bytes).exists, isHere else { return "" }
        return ". For the directory here, write ./\(escapedText(endpoint.bytes))"
    }

    /// A command line that runs a command on the other machine.
    private func trial(_ command: String) -> String { access.line(to: endpoint, command) }

    /// Advice for the user if ssh does not connect.
    private func advice(_ complaint: String) -> String {
        if complaint.contains("Permission denied") {
            let port = endpoint.port.map { "-p \($0) " } ?? ""
            return ". To put your key there: ssh-copy-id \(port)\(endpoint.destination)"
        }
        if complaint.contains("Host key verification failed") {
            return ". To see and accept its key: \(trial("true"))"
        }
        return ". To try it: \(trial("true"))"
    }
}
