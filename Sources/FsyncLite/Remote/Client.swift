/// A machine that has the source and sends this one a command. The other end is a `RemoteRun`.
public final class Client: Sendable {
    package let command: RemoteCommand
    let link: RemoteLink

    init(_ welcome: Welcome) throws {
        var welcome = welcome
        command = try RemoteCommand(&welcome)
        // A host that is not a valid name is called `client`.
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
            link.send(frame)
        }
    }

    /// Asks the client before the commit. After that, the command continues without a connection.
    ///
    /// - Returns: false if the connection is lost.
    package func agreesToCommit() -> Bool {
        link.send(FrameWriter(.ready))
        return link.awaitGo()
    }

    /// Sends the exit code of the command. Waits until it is written, or the client is gone.
    package func end(_ code: Int32) {
        var frame = FrameWriter(.outcome)
        frame.byte(UInt8(truncatingIfNeeded: code))
        link.send(frame)
        link.finish()
    }
}
