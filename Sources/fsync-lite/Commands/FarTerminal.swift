import FileStorage
import FileSystem
import FsyncLite
import Synchronization

/// Where another machine writes here: the standard streams of this process, its log, and a document.
final class FarTerminal: RemoteRun.Terminal {
    private struct State {
        var output = FarText()
        var errors = FarText()
        /// The end of the log that is no whole line yet.
        var log: [UInt8] = []
        var document: [UInt8] = []
        var hasWritten = false
        var failure: (any Error)?
    }

    private static let longestDocument = 1 << 30

    private let state = Mutex(State())
    private let log: LocalFile?

    init(log: LocalFile?) { self.log = log }

    var signal: Int32? { TerminationSignal.signal }
    /// To standard output.
    var hasWritten: Bool { state.withLock(\.hasWritten) }
    var document: [UInt8] { state.withLock(\.document) }
    /// The first.
    var failure: (any Error)? { state.withLock(\.failure) }

    func write(_ bytes: ArraySlice<UInt8>, to stream: RemoteCommand.Stream) {
        state.withLock { state in
            do {
                switch stream {
                case .output:
                    state.hasWritten = true
                    guard state.failure == nil else { return }
                    try StandardStream.output.write(state.output.clean(bytes))
                case .errors: try StandardStream.error.write(state.errors.clean(bytes))
                case .log:
                    state.log += bytes
                    while let end = state.log.firstIndex(of: UInt8(ascii: "\n")) {
                        let line = String(decoding: state.log[..<end], as: UTF8.self)
                        state.log.removeSubrange(...end)
                        if let log { try RunLog(log, line: line).append() }
                    }
                case .document:
                    state.document += bytes
                    guard state.document.count <= FarTerminal.longestDocument else {
                        state.document = []
                        throw SyncError(.failed, "the document from the other machine is too large")
                    }
                }
            } catch {
                if state.failure == nil { state.failure = error }
            }
        }
    }
}
