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

    /// In bytes: a plan or a report with all its actions, and a report without them.
    static let (longestDocument, longestReport) = (1 << 30, 16 << 20)
    private static let longestLine = 64 << 10

    private let state = Mutex(State())
    private let log: LocalFile?
    private let documentLimit: Int
    private let isRaw: Bool

    /// - Parameters:
    ///   - log: nil if no log is wanted.
    ///   - documentLimit: in bytes; 0 if no document is wanted.
    ///   - isRaw: standard output is for a program, which wants names as they are.
    init(log: LocalFile?, documentLimit: Int, isRaw: Bool) {
        (self.log, self.documentLimit, self.isRaw) = (log, documentLimit, isRaw)
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
                    guard state.document.count + bytes.count <= documentLimit else { return false }
                    state.document += bytes
                }
            } catch {
                if state.failure == nil { state.failure = error }
            }
            return true
        }
    }
}
