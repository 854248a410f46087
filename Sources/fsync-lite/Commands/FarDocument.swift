import FileStorage
import FileSystem
import FsyncLite
import Synchronization

/// What a command on another machine writes to its standard output, for this program and not for people.
final class FarDocument: RemoteRun.Terminal {
    private struct State {
        var errors = FarText()
        var length = 0
        var failure: (any Error)?
    }

    private static let limit = 1 << 30

    private let state = Mutex(State())
    private let showsErrors: Bool
    private let take: @Sendable (ArraySlice<UInt8>) throws -> Void

    private init(showsErrors: Bool, _ take: @escaping @Sendable (ArraySlice<UInt8>) throws -> Void) {
        (self.showsErrors, self.take) = (showsErrors, take)
    }

    var signal: Int32? { TerminationSignal.signal }

    func write(_ bytes: ArraySlice<UInt8>, to stream: RemoteCommand.Stream) -> Bool {
        state.withLock { state in
            do {
                switch stream {
                case .output where state.failure == nil:
                    state.length += bytes.count
                    guard state.length <= FarDocument.limit else {
                        throw SyncError(.failed, "the document from the other machine is too large")
                    }
                    try take(bytes)
                case .errors where showsErrors: try StandardStream.error.write(state.errors.clean(bytes))
                case .output, .errors: break
                case .log, .document: return false
                }
            } catch {
                if state.failure == nil { state.failure = error }
            }
            return true
        }
    }

    /// Has a command carried out that only reads.
    ///
    /// - Parameters:
    ///   - invocation: its options say how the machine is reached.
    ///   - take: called with each part of the document, on another thread.
    /// - Returns: the exit code.
    static func fetch(
        _ command: any Command.Type, _ path: [UInt8], _ options: GivenOptions, beside invocation: Invocation,
        showsErrors: Bool, _ take: @escaping @Sendable (ArraySlice<UInt8>) throws -> Void
    ) throws -> ExitCode {
        guard let argument = command.remoteTarget else { return .usage }
        var asked = Invocation(
            program: invocation.program, command: command, arguments: [argument.name: [path]],
            options: options)
        for option in OptionDescription.remote where invocation.options.has(option) {
            asked.options.append(option, invocation.options.value(option))
        }
        let document = FarDocument(showsErrors: showsErrors, take)
        guard let code = try RemoteInvocation(asked, isDecided: true)?.run(document) else {
            return .unreachable
        }
        if let failure = document.state.withLock(\.failure) { throw failure }
        return ExitCode(rawValue: code) ?? .unreachable
    }
}

extension Tree {
    /// A tree of this machine, or one of another machine, by its manifest, which is fetched.
    init(_ path: [UInt8], for invocation: Invocation) throws {
        guard invocation.client == nil, try SyncRun.endpoint(path, .manifest) != nil else {
            try self.init(path: path)
            return
        }
        let manifest = try FetchedManifest()
        var options = GivenOptions()
        options.append(ManifestExportCommand.format, Array("manifest".utf8))
        let code = try FarDocument.fetch(
            ManifestExportCommand.self, path, options, beside: invocation, showsErrors: true,
            manifest.append)
        guard code == .done || code == .committedWithOmissions else { throw FarFailure(code: code) }
        self.init(manifest, path: path)
    }
}
