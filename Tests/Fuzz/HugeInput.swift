import Glibc
import TestSupport

/// A document that is too large for the memory.
struct HugeInput: Sendable {
    let name: String
    let write: @Sendable (_ kind: DocumentKind, _ seed: UInt64, _ path: String) throws -> Void

    static let all = [
        HugeInput("a string of 1 GB", "a", megabytes: 1 << 10),
        HugeInput("a string of 1.1 GB", "a", megabytes: 1126),
        HugeInput("a string of 60 MB", "a", megabytes: 60),
        HugeInput("a name of 60 MB", "../é\\u002f", megabytes: 60),
        HugeInput("1 GB of line feeds", "\n", megabytes: 1 << 10),
        HugeInput("1 GB of brackets", "[", megabytes: 1 << 10),
        HugeInput(name: "a hole of 1 TB") { kind, seed, path in
            var random = SplitMix64(seed: seed)
            let document = kind.make(&random)
            try Files.write(Array(document.prefix(document.count / 2)), to: path)
            guard truncate(path, 1 << 40) == 0 else { throw TreeError("truncate", path) }
        },
    ]
}

extension HugeInput {
    /// A valid document with long content in the last string of its first half.
    private init(_ name: String, _ text: String, megabytes: Int) {
        self.init(name: name) { kind, seed, path in
            let part = Array(String(repeating: text, count: (1 << 20) / text.utf8.count).utf8)
            var random = SplitMix64(seed: seed)
            let document = kind.make(&random)
            let quote =
                document.firstIndex(of: UInt8(ascii: ":")).map { document.index($0, offsetBy: 2) } ?? 0
            let place = min(quote + (document.count > 300 ? 200 : 0), document.count)
            try Files.write(to: path) { put in
                put(Array(document[..<place]))
                for _ in 0..<megabytes { put(part) }
                put(Array(document[place...]))
            }
        }
    }
}
