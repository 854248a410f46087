/// A hash table with indices of a list, in four bytes each. One third of it or more is free.
struct HashIndex: Sendable {
    /// Each index increased by one; 0 means free.
    private var slots: [UInt32] = []
    private var count = 0

    /// The first index with this hash value that is wanted.
    ///
    /// - Parameter isWanted: it may get an index with another hash value.
    func first(_ hash: Int, where isWanted: (Int) -> Bool) -> Int? {
        guard !slots.isEmpty else { return nil }
        var slot = hash & (slots.count - 1)
        while slots[slot] != 0 {
            let index = Int(slots[slot]) - 1
            if isWanted(index) { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// - Parameters:
    ///   - index: the number of indices so far.
    ///   - hash: of any index so far, and of this one.
    mutating func add(_ index: Int, hash: (Int) -> Int) {
        count += 1
        if count * 3 > slots.count * 2 {
            // Twice the next power of two.
            slots = [UInt32](repeating: 0, count: max(16, 2 << (Int.bitWidth - index.leadingZeroBitCount)))
            for old in 0..<index { insert(old, hash(old)) }
        }
        insert(index, hash(index))
    }

    private mutating func insert(_ index: Int, _ hash: Int) {
        var slot = hash & (slots.count - 1)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(index + 1)
    }
}
