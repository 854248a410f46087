import Foundation
import TestSupport
import Testing

/// The other end with a recorded connection: the bytes in each direction, and the requests.
struct WireRecording {
    let far: FarMachine
    private let directory: TemporaryDirectory

    /// - Parameter filter: a shell filter for the stream from the other machine.
    init(has side: FarMachine.Side = .source, down filter: String = "cat") throws {
        directory = try TemporaryDirectory(inMemory: true)
        let (up, down) = ("\(directory.path)/up", "\(directory.path)/down")
        far = try FarMachine(#"tee "\#(up)" | sh -c "$far" | \#(filter) | tee "\#(down)""#, has: side)
    }

    /// The bytes of the last connection in both directions.
    var size: Int {
        get throws {
            try ["up", "down"].reduce(0) {
                try $0
                    + Data(
                        contentsOf: URL(fileURLWithPath: "\(directory.path)/\($1)"), options: .alwaysMapped
                    ).count
            }
        }
    }

    /// The last connection.
    func last() throws -> Connection {
        func frames(_ name: String) throws -> [Frame] {
            Frame.all(in: try Data(contentsOf: URL(fileURLWithPath: "\(directory.path)/\(name)")))
        }
        return Connection(up: try frames("up"), down: try frames("down"))
    }

    struct Connection {
        let up: [Frame]
        let down: [Frame]

        /// The requests of the end with the target, in order. Requests that are made together are one.
        var requests: [String] {
            (up + down).compactMap(\.request).reduce(into: []) {
                if $0.last != $1 || $1 == "list" { $0.append($1) }
            }
        }

        /// The bytes in each direction without the greeting.
        var bytes: (up: Int, down: Int) {
            func size(_ frames: [Frame]) -> Int {
                frames.filter { $0.type != 1 }.reduce(0) { $0 + 5 + $1.payload.count }
            }
            return (size(up), size(down))
        }
    }

    struct Frame {
        let type: UInt8
        let payload: [UInt8]

        private static let kinds = [
            "?", "open", "rules", "scan", "attributes", "digest", "obstacles", "content", "digests",
            "list",
        ]

        var request: String? {
            guard type == 2, let id = payload.firstIndex(where: { $0 < 0x80 }), id + 1 < payload.count,
                Int(payload[id + 1]) < Frame.kinds.count
            else { return nil }
            return Frame.kinds[Int(payload[id + 1])]
        }

        static func all(in stream: Data) -> [Frame] {
            var (rest, frames) = (Array(stream)[...], [Frame]())
            while rest.count >= 5 {
                let length = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
                let type = rest[rest.startIndex + 4]
                frames.append(Frame(type: type, payload: Array(rest.dropFirst(5).prefix(length))))
                rest = rest.dropFirst(5 + length)
            }
            return frames
        }
    }
}
