import Glibc
import TestSupport

/// A document that is too large for the memory.
struct HugeInput: Sendable {
    let name: String
    let write: @Sendable (_ kind: DocumentKind, _ seed: UInt64, _ path: String) throws -> Void

    static let all = [
        HugeInput(
            "a string of 1 GB", filling: Array(repeating: UInt8(ascii: "a"), count: 1 << 20), times: 1 << 10),
        HugeInput(
            "a string of 1.1 GB", filling: Array(repeating: UInt8(ascii: "a"), count: 1 << 20), times: 1126),
        HugeInput(
            "a string of 60 MB", filling: Array(repeating: UInt8(ascii: "a"), count: 1 << 20), times: 60),
        HugeInput("a name of 60 MB", filling: Array("../é\\u002f".utf8), times: 6 << 20),
        HugeInput("1 GB of line feeds", filling: Array(repeating: 0x0A, count: 1 << 20), times: 1 << 10),
        HugeInput(
            "1 GB of brackets", filling: Array(repeating: UInt8(ascii: "["), count: 1 << 20), times: 1 << 10),
        HugeInput(name: "a hole of 1 TB") { kind, seed, path in
            var random = SplitMix64(seed: seed)
            let document = kind.make(&random)
            try Files.write(Array(document.prefix(document.count / 2)), to: path)
            guard truncate(path, 1 << 40) == 0 else { throw Failure("truncate", path) }
        },
    ]
}

extension HugeInput {
    /// A valid document with long content in the last string of its first half.
    private init(_ name: String, filling part: [UInt8], times: Int) {
        self.init(name: name) { kind, seed, path in
            var random = SplitMix64(seed: seed)
            let document = kind.make(&random)
            let quote =
                document.firstIndex(of: UInt8(ascii: ":")).map { document.index($0, offsetBy: 2) } ?? 0
            let place = min(quote + (document.count > 300 ? 200 : 0), document.count)
            try Files.write(to: path) { put in
                put(Array(document[..<place]))
                for _ in 0..<times { put(part) }
                put(Array(document[place...]))
            }
        }
    }
}
