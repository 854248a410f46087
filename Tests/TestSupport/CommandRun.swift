import FileStorage
import Foundation

/// One run of the built command: its result and its output.
package struct CommandRun: Sendable, CustomStringConvertible {
    /// Its command line.
    package let words: [String]
    /// The exit code. If a signal ended the run, it is the negative number of the signal.
    package let code: Int32
    package let output: String
    package let errors: String

    /// The user that runs the command.
    package enum Identity: Sendable {
        /// The user who runs the tests.
        case current
        /// A user whom permissions stop: the current one, or `nobody` if that is root.
        case ordinary
    }

    /// Runs the command to its end.
    ///
    /// - Parameter tracer: another command with its arguments, which runs this one.
    package init(
        _ arguments: [String], as identity: Identity = .current, in directory: String? = nil,
        under tracer: [String] = [], environment: [String: String] = [:]
    ) throws {
        let running = try RunningCommand(
            arguments, as: identity, in: directory, under: tracer, environment: environment)
        self = try running.finish()
    }

    fileprivate init(_ words: [String], code: Int32, output: String, errors: String) {
        self.words = words
        self.code = code
        self.output = output
        self.errors = errors
    }

    /// The same run with its output in other words.
    package func saying(_ other: (String) throws -> String) rethrows -> CommandRun {
        CommandRun(words, code: code, output: try other(output), errors: try other(errors))
    }

    package var description: String { "\(words.joined(separator: " ")): \(code)\n\(output)\(errors)" }

    /// Standard output as a JSON object.
    package func json() throws -> JSONObject { try JSONObject(text: output) }
}

/// The built command while it runs.
package final class RunningCommand {
    private let process: SpawnedProcess
    private let files: TemporaryDirectory
    private let words: [String]

    /// Output is written to files, because a full pipe would stop the command.
    ///
    /// - Parameters:
    ///   - tracer: another command with its arguments, which runs this one.
    ///   - environment: added to that of the tests.
    ///   - output: a terminal instead of a file. The same is true for `errors`.
    package init(
        _ arguments: [String], as identity: CommandRun.Identity = .current, in directory: String? = nil,
        under tracer: [String] = [], environment: [String: String] = [:], output: Terminal? = nil,
        errors: Terminal? = nil
    ) throws {
        files = try TemporaryDirectory()
        self.words = arguments
        var words = [try BuiltCommand.path()] + arguments
        if case .ordinary = identity, geteuid() == 0 {
            // Other users may have no access to the build directory.
            let copy = "\(files.path)/fsync-lite"
            // Copy it by another process. A child of this one, begun meanwhile, would have the copy open for
            // writing, and the kernel would not run it.
            try HostCommand.run("install", "-m", "755", words[0], copy)
            words = OrdinaryUser.prefix + [copy] + arguments
        }
        let handles = [
            try RunningCommand.handle("\(files.path)/output"),
            try RunningCommand.handle("\(files.path)/errors"),
        ]
        process = try SpawnedProcess(
            tracer + words, in: directory ?? files.path,
            // The settings of the user who runs the tests, and the machine's time zone, must have no effect.
            environment: ProcessInfo.processInfo.environment
                .merging(["XDG_CONFIG_HOME": files.path, "FSYNC_LITE_STATE": "", "TZ": "UTC"]) { $1 }.merging(
                    environment
                ) { $1 },
            output: (output?.device ?? handles[0]).fileDescriptor,
            errors: (errors?.device ?? handles[1]).fileDescriptor)
    }

    package var identifier: Int32 { process.identifier }
    package var isRunning: Bool { process.isRunning }

    /// Ends it at once, as a power cut would, if it is running.
    package func kill() {
        send(SIGKILL)
    }

    /// Sends it a signal if it is running.
    package func send(_ signal: Int32) {
        process.send(signal)
    }

    /// Waits for its end.
    package func finish() throws -> CommandRun {
        CommandRun(
            words, code: process.wait(),
            output: String(
                decoding: try Data(contentsOf: URL(fileURLWithPath: "\(files.path)/output")), as: UTF8.self),
            errors: String(
                decoding: try Data(contentsOf: URL(fileURLWithPath: "\(files.path)/errors")), as: UTF8.self))
    }

    private static func handle(_ path: String) throws -> FileHandle {
        try Data().write(to: URL(fileURLWithPath: path))
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }
}

/// The command that `FSYNC_LITE` names, such as the release binary; otherwise the one beside the test bundle.
package enum BuiltCommand {
    private struct Missing: Error, CustomStringConvertible {
        let description = "no fsync-lite beside the test bundle: run swift build first"
    }

    /// The directory of the running program and of all that was built with it.
    package static func directory() throws -> LocalFile {
        LocalFile(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")).parent
    }

    package static func path() throws -> String {
        if let chosen = ProcessInfo.processInfo.environment["FSYNC_LITE"] { return chosen }
        let command = try directory() + "fsync-lite"
        guard FileManager.default.isExecutableFile(atPath: command.path) else { throw Missing() }
        return command.path
    }
}

/// A user whom permissions stop, for tests of unreadable files.
package enum OrdinaryUser {
    /// `nobody`.
    private static let number: UInt32 = 65534

    package static let prefix = [
        "setpriv", "--reuid", "\(number)", "--regid", "\(number)", "--clear-groups", "--",
    ]

    /// Whether such a user can reach the temporary directory.
    package static let isAvailable: Bool = {
        guard geteuid() == 0 else { return true }
        return HostCommand.works(prefix + ["test", "-x", NSTemporaryDirectory()])
    }()

    /// Gives a whole tree to this user.
    package static func own(_ path: String) {
        if geteuid() == 0 { _ = HostCommand.works("chown", "-hR", "\(number):\(number)", path) }
    }
}
