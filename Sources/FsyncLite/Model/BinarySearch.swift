extension RandomAccessCollection where Index == Int {
    /// The first index whose element does not precede the sought one; `endIndex` if all elements precede it.
    ///
    /// - Parameter precedes: true for the first elements, false for the rest.
    func partitionPoint(where precedes: (Element) throws -> Bool) rethrows -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if try precedes(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
