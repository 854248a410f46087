import CLinux

/// Incremental SHA-256 of FIPS 180-4. `sha256sum` prints the same digits.
///
/// Measured: 1.2 GB/s with the x86 instructions for SHA, a fifth of that without.
public struct SHA256: Sendable {
    /// The 256 bits, most significant first in `first`.
    public struct Value: Hashable, Sendable {
        public var first: UInt64
        public var second: UInt64
        public var third: UInt64
        public var fourth: UInt64

        public init(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
            (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
        }
    }

    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
        0x5be0_cd19,
    ]
    /// Bytes that do not fill a block yet.
    private var pending: [UInt8] = []
    private var length: UInt64 = 0
    private let isAccelerated: Bool

    private static let block = 64

    /// - Parameter accelerated: false uses only instructions that every processor has.
    public init(accelerated: Bool = true) {
        isAccelerated = accelerated && SHA256.canAccelerate
    }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        length &+= UInt64(bytes.count)
        var rest = bytes
        if !pending.isEmpty {
            let missing = min(SHA256.block - pending.count, rest.count)
            pending.append(contentsOf: rest[..<missing])
            rest = UnsafeRawBufferPointer(rebasing: rest[missing...])
            guard pending.count == SHA256.block else { return }
            takePending()
        }
        let whole = rest.count & ~(SHA256.block - 1)
        take(UnsafeRawBufferPointer(rebasing: rest[..<whole]))
        pending.append(contentsOf: rest[whole...])
    }

    public mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// The digest of all bytes so far.
    public consuming func finish() -> Value {
        pending.append(0x80)
        if pending.count > SHA256.block - 8 {
            pending.append(contentsOf: repeatElement(0, count: SHA256.block - pending.count))
            takePending()
        }
        pending.append(contentsOf: repeatElement(0, count: SHA256.block - 8 - pending.count))
        withUnsafeBytes(of: (length &* 8).bigEndian) { pending.append(contentsOf: $0) }
        takePending()
        func match(_ index: Int) -> UInt64 { UInt64(state[index]) << 32 | UInt64(state[index + 1]) }
        return Value(match(0), match(2), match(4), match(6))
    }

    private mutating func takePending() {
        let block = pending
        pending.removeAll(keepingCapacity: true)
        block.withUnsafeBytes { take($0) }
    }

    private mutating func take(_ blocks: UnsafeRawBufferPointer) {
        guard let start = blocks.baseAddress, !blocks.isEmpty else { return }
        let isAccelerated = isAccelerated
        state.withUnsafeMutableBufferPointer { state in
            SHA256.constants.withUnsafeBufferPointer { constants in
                guard let state = state.baseAddress, let constants = constants.baseAddress else { return }
                #if arch(x86_64)
                    if isAccelerated {
                        sha256_blocks_accelerated(state, constants, start, blocks.count / SHA256.block)
                        return
                    }
                #endif
                for offset in stride(from: 0, to: blocks.count, by: SHA256.block) {
                    SHA256.take(start + offset, into: state, constants)
                }
            }
        }
    }

    #if arch(x86_64)
        private static let canAccelerate = sha256_is_accelerated() != 0
    #else
        private static let canAccelerate = false
    #endif

    /// Processes one block. The variables have the names of the standard.
    private static func take(
        _ block: UnsafeRawPointer, into state: UnsafeMutablePointer<UInt32>,
        _ k: UnsafePointer<UInt32>
    ) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { w in
            for t in 0..<16 {
                w[t] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: 4 * t, as: UInt32.self))
            }
            for t in 16..<64 {
                let s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3
                let s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10
                w[t] = w[t - 16] &+ s0 &+ w[t - 7] &+ s1
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            var (e, f, g, h) = (state[4], state[5], state[6], state[7])
            for t in 0..<64 {
                let s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
                let t1 = h &+ s1 &+ (e & f ^ ~e & g) &+ k[t] &+ w[t]
                let s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
                let t2 = s0 &+ (a & b ^ a & c ^ b & c)
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ t2)
            }
            for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
        }
    }

    @inline(__always)
    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word >> count | word << (32 - count)
    }

    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
        0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7,
        0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc,
        0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351,
        0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e,
        0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585,
        0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f,
        0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
        0xc671_78f2,
    ]
}
