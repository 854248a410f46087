/// Incremental XXH64. With seed 0 it is the checksum of the documents, which detects truncation and bit rot at several
/// GB/s. It does not detect deliberate changes.
///
/// The algorithm is Yann Collet's, from `doc/xxhash_spec.md` of the xxHash project. So `head -c N FILE | xxhsum -H64`
/// prints the same digits.
package struct Checksum: Sendable {
    private let seed: UInt64
    private var lanes: (UInt64, UInt64, UInt64, UInt64)
    private var pending: [UInt8] = []
    private var length: UInt64 = 0

    package init(seed: UInt64 = 0) {
        self.seed = seed
        lanes = (seed &+ prime1 &+ prime2, seed &+ prime2, seed, seed &- prime1)
    }

    package mutating func update(_ bytes: ArraySlice<UInt8>) {
        length &+= UInt64(bytes.count)
        var rest = bytes
        if !pending.isEmpty {
            let missing = rest.prefix(32 - pending.count)
            pending.append(contentsOf: missing)
            rest = rest.dropFirst(missing.count)
            guard pending.count == 32 else { return }
            let stripe = pending
            pending.removeAll(keepingCapacity: true)
            consume(stripe[...])
        }
        let whole = rest.count & ~31
        consume(rest.prefix(whole))
        pending.append(contentsOf: rest.dropFirst(whole))
    }

    /// The checksum of all bytes so far.
    package var value: UInt64 {
        var hash: UInt64
        if length >= 32 {
            hash = rotate(lanes.0, 1) &+ rotate(lanes.1, 7) &+ rotate(lanes.2, 12) &+ rotate(lanes.3, 18)
            for lane in [lanes.0, lanes.1, lanes.2, lanes.3] {
                hash = (hash ^ round(0, lane)) &* prime1 &+ prime4
            }
        } else {
            hash = seed &+ prime5
        }
        hash = hash &+ length
        pending.withUnsafeBytes { rest in
            var offset = 0
            while offset + 8 <= rest.count {
                let word = UInt64(littleEndian: rest.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                hash = rotate(hash ^ round(0, word), 27) &* prime1 &+ prime4
                offset += 8
            }
            if offset + 4 <= rest.count {
                let word = UInt32(littleEndian: rest.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
                hash = rotate(hash ^ (UInt64(word) &* prime1), 23) &* prime2 &+ prime3
                offset += 4
            }
            while offset < rest.count {
                hash = rotate(hash ^ (UInt64(rest[offset]) &* prime5), 11) &* prime1
                offset += 1
            }
        }
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    /// The text in a document: the algorithm's name and sixteen hexadecimal digits.
    package var text: String {
        let digits = String(value, radix: 16)
        return "xxh64:" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    private mutating func consume(_ stripes: ArraySlice<UInt8>) {
        stripes.withUnsafeBytes { bytes in
            var (a, b, c, d) = lanes
            for offset in stride(from: 0, to: bytes.count, by: 32) {
                a = round(
                    a, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                b = round(
                    b, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)))
                c = round(
                    c, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self))
                )
                d = round(
                    d, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self))
                )
            }
            lanes = (a, b, c, d)
        }
    }
}

private let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
private let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
private let prime3: UInt64 = 0x1656_67B1_9E37_79F9
private let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
private let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

@inline(__always)
private func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
    value << count | value >> (64 - count)
}

@inline(__always)
private func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    rotate(lane &+ word &* prime2, 31) &* prime1
}
