import FileSystem

/// A machine that has a command carried out here, and that has the source: the far end of a `RemoteRun`.
public final class Client: Hashable, Sendable {
    package let command: RemoteCommand
    let link: RemoteLink

    init(_ welcome: Welcome) throws {
        var welcome = welcome
        command = try RemoteCommand(&welcome)
        // Only a name that is one.
        let named = try? Endpoint(Array("\(command.host):/".utf8))
        guard let endpoint = try named ?? Endpoint(Array("client:/".utf8)) else {
            throw WireError("the client has no name")
        }
        link = try RemoteLink(
            endpoint, welcome.connection, greeted: welcome.parser, timeout: welcome.timeout,
            memory: welcome.memory)
    }

    package func write(_ bytes: some Collection<UInt8>, to stream: RemoteCommand.Stream) {
        guard !bytes.isEmpty else { return }
        bytes.forEachPiece { piece, _ in
            var frame = FrameWriter(.output)
            frame.byte(stream.rawValue)
            frame.raw(piece)
            link.tell(frame)
        }
    }

    /// Before the commit: it needs the client no more, and goes on if the line drops now.
    ///
    /// - Returns: false if the line is lost.
    package func agreesToCommit() -> Bool {
        link.tell(FrameWriter(.ready))
        return link.awaitGo()
    }

    /// The command has ended. Waits until the client knows, or is gone.
    package func end(_ code: Int32) {
        var frame = FrameWriter(.outcome)
        frame.byte(UInt8(truncatingIfNeeded: code))
        link.tell(frame)
        link.finish()
    }

    public static func == (first: Client, second: Client) -> Bool { first === second }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
