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
    private static let longestLine = 64 << 10

    private let state = Mutex(State())
    private let log: LocalFile?
    private let wantsDocument: Bool
    private let isRaw: Bool

    /// - Parameters:
    ///   - log: nil if no log is wanted.
    ///   - isRaw: standard output is for a program, which wants names as they are.
    init(log: LocalFile?, wantsDocument: Bool, isRaw: Bool) {
        (self.log, self.wantsDocument, self.isRaw) = (log, wantsDocument, isRaw)
    }

    var signal: Int32? { TerminationSignal.signal }
    /// To standard output.
    var hasWritten: Bool { state.withLock(\.hasWritten) }
    var document: [UInt8] { state.withLock(\.document) }
    /// The first.
    var failure: (any Error)? { state.withLock(\.failure) }

    func write(_ bytes: ArraySlice<UInt8>, to stream: RemoteCommand.Stream) -> Bool {
        state.withLock { state in
            do {
                switch stream {
                case .output:
                    state.hasWritten = true
                    guard state.failure == nil else { return true }
                    try StandardStream.output.write(isRaw ? Array(bytes) : state.output.clean(bytes))
                case .errors: try StandardStream.error.write(state.errors.clean(bytes))
                case .log:
                    guard let log else { return false }
                    var rest = bytes
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        let line = String(decoding: state.log + rest[..<end], as: UTF8.self)
                        (state.log, rest) = ([], rest[(end + 1)...])
                        try RunLog(log, line: line).append()
                    }
                    state.log += rest
                    return state.log.count <= FarTerminal.longestLine
                case .document:
                    guard wantsDocument, state.document.count + bytes.count <= FarTerminal.longestDocument
                    else { return false }
                    state.document += bytes
                }
            } catch {
                if state.failure == nil { state.failure = error }
            }
            return true
        }
    }
}
