import TestSupport
import Testing

@testable import FsyncLite

struct SeenHashesTests {
    @Test(arguments: [0, 10_000])
    func hashesAreNewOnce(capacity: Int) {
        var random = SplitMix64(seed: 1)
        // The lowest and the highest bits are the same for many.
        let hashes = (0..<10_000).map { _ in
            Int(truncatingIfNeeded: random.next() % 512 | random.next() % 4096 << 32)
        }
        var seen = SeenHashes(minimumCapacity: capacity)
        var known: Set<Int> = []
        for hash in hashes {
            let isNew = known.insert(hash).inserted
            // Hashes with equal highest bits that meet are not told apart.
            #expect(!seen.insert(hash) || isNew)
        }
        var distinct = SeenHashes(minimumCapacity: capacity)
        #expect((0..<10_000).allSatisfy { distinct.insert($0 << 32 | $0) })
    }
}
