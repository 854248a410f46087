import FileStorage
import FileSystem
import FsyncLite
import Synchronization

/// Receives the output of another machine: for the standard streams of this process, its log, and a document.
final class FarTerminal: Sendable {
    private struct State {
        var output = FarText()
        var errors = FarText()
        /// The last line of the log, until it is complete.
        var log: [UInt8] = []
        var document: [UInt8] = []
        /// Bytes of standard output.
        var length = 0
        var failure: (any Error)?
    }

    /// In bytes: a plan, a manifest or a report with all its actions; and a report without actions.
    static let (longestDocument, longestReport) = (1 << 30, 16 << 20)
    private static let longestLine = 64 << 10

    private let state = Mutex(State())
    private let log: LocalFile?
    private let documentLimit: Int
    private let isRaw: Bool
    private let showsErrors: Bool
    /// Receives the standard output; nil to print it.
    private let take: (@Sendable (ArraySlice<UInt8>) throws -> Void)?

    /// - Parameters:
    ///   - log: nil if no log is wanted.
    ///   - documentLimit: in bytes; 0 if no document is wanted.
    ///   - isRaw: standard output is read by a program, which needs the names unchanged.
    ///   - take: called with each part of the standard output, on another thread.
    init(
        log: LocalFile? = nil, documentLimit: Int = 0, isRaw: Bool = false, showsErrors: Bool = true,
        _ take: (@Sendable (ArraySlice<UInt8>) throws -> Void)? = nil
    ) {
        (self.log, self.documentLimit, self.isRaw) = (log, documentLimit, isRaw)
        (self.showsErrors, self.take) = (showsErrors, take)
    }

    /// Standard output has received something.
    var hasWritten: Bool { state.withLock { $0.length > 0 } }
    var document: [UInt8] { state.withLock(\.document) }
    /// The first error.
    var failure: (any Error)? { state.withLock(\.failure) }

    func write(_ bytes: ArraySlice<UInt8>, to stream: RemoteCommand.Stream) -> Bool {
        state.withLock { state in
            do {
                switch stream {
                case .output:
                    state.length += bytes.count
                    guard state.failure == nil else { return true }
                    guard let take else {
                        try StandardStream.output.write(isRaw ? Array(bytes) : state.output.clean(bytes))
                        return true
                    }
                    guard state.length <= FarTerminal.longestDocument else {
                        throw SyncError(.failed, "the document from the other machine is too large")
                    }
                    try take(bytes)
                case .errors:
                    if showsErrors { try StandardStream.error.write(state.errors.clean(bytes)) }
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
