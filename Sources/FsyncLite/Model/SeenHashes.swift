/// Hashes that were seen, of which 32 bits and the place are kept: six bytes each where their number is known.
struct SeenHashes {
    /// Each twice as large as the one before, and three quarters full; 0 is free.
    private var tables: [[UInt32]]
    /// The number of hashes in the last table.
    private var count = 0

    init(minimumCapacity: Int = 0) {
        tables = [[UInt32](repeating: 0, count: max(1 << 10, minimumCapacity / 3 * 4 + 4))]
    }

    /// - Returns: false if it was there, or another one that is not told from it.
    mutating func insert(_ hash: Int) -> Bool {
        let bits = UInt64(bitPattern: Int64(hash))
        let rest = max(UInt32(truncatingIfNeeded: bits >> 32), 1)
        func first(of size: Int) -> Int { Int(UInt32(truncatingIfNeeded: bits)) % size }
        var place = 0
        for table in tables {
            place = first(of: table.count)
            while table[place] != 0 {
                if table[place] == rest { return false }
                place = place + 1 < table.count ? place + 1 : 0
            }
        }
        let size = tables[tables.count - 1].count
        if count >= size / 4 * 3 {
            tables.append([UInt32](repeating: 0, count: size * 2))
            (count, place) = (0, first(of: size * 2))
        }
        tables[tables.count - 1][place] = rest
        count += 1
        return true
    }
}
