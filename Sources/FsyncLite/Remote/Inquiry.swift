import FileSystem

/// What became of a commit whose client lost the line.
package enum CommitFate: UInt8, CaseIterable, Sendable {
    /// The new tree is there, durable.
    case committed = 1
    /// It has ended without a commit: the old tree is there.
    case old
    /// It was begun and not ended, and no run is at it.
    case pending
    /// A run is writing to the target.
    case running
    /// There is no state of fsync-lite.
    case absent
}

/// The question of a client that has lost the line to a run.
public struct Inquiry: Sendable {
    package let path: [UInt8]
    /// The commit; empty for a run that announces none.
    package let transaction: String
    private let connection: StandardConnection

    init(_ welcome: Welcome) throws {
        var reader = FrameReader(welcome.first.payload)
        path = try reader.bytes(upTo: WireFormat.longestPath)
        guard !path.isEmpty, !path.contains(0) else { throw WireError("a path is none") }
        transaction = try reader.transaction(orNone: true)
        try reader.end()
        connection = welcome.connection
    }

    /// Answers once no run is writing, or after a while.
    package func answer(_ look: () throws -> CommitFate) throws {
        let pause = Semaphore()
        let began = ContinuousClock.now
        var signed = began
        var fate = try look()
        while fate == .running, ContinuousClock.now - began < .seconds(WireFormat.patience) {
            _ = pause.wait(atMost: .milliseconds(100))
            if ContinuousClock.now - signed > .seconds(WireFormat.pause) {
                try connection.write(FrameWriter(.ping).frame())
                signed = .now
            }
            fate = try look()
        }
        var frame = FrameWriter(.outcome)
        frame.byte(fate.rawValue)
        try connection.write(frame.frame())
    }
}

extension FrameReader {
    /// The name of a transaction.
    ///
    /// - Parameter orNone: it may be empty.
    mutating func transaction(orNone: Bool = false) throws(WireError) -> String {
        let text = try text()
        guard orNone && text.isEmpty || FileName(text.utf8).map(TransactionID.isName) ?? false else {
            throw WireError("a transaction without its name")
        }
        return text
    }
}
