/// Entries of the source without a settled counterpart, in order. Five bytes stand for one that an earlier tree has in
/// memory anyhow.
struct ArrivalList: RandomAccessCollection, Sendable {
    private var own = PackedList<ArrivalCoding>()
    private let earlier: PackedList<DeltaEntryCoding>
    /// Of each entry of the earlier tree.
    private var states: [State]
    /// Indices of `own`, or with the highest bit of `earlier`.
    private var codes: [UInt32] = []
    private static let ofEarlier: UInt32 = 1 << 31

    private enum State: UInt8 {
        case none, arrived, arrivedAsDrift
        /// Its object was found; it does not count any more.
        case matched
    }

    /// - Parameter earlier: the changed entries of the earlier tree that is the source, if it is one.
    init(over earlier: PackedList<DeltaEntryCoding> = []) {
        self.earlier = earlier
        states = Array(repeating: .none, count: earlier.count)
    }

    /// - Parameter index: of the same entry in the earlier tree.
    mutating func append(_ arrival: TreeMerge.Arrival, earlier index: Int?) {
        if let index, index < states.count, arrival.isListed {
            codes.append(UInt32(index) | ArrivalList.ofEarlier)
            states[index] = arrival.isDrift ? .arrivedAsDrift : .arrived
        } else {
            codes.append(UInt32(own.count))
            own.append(arrival)
        }
    }

    /// The entry of an earlier tree, if it arrived.
    func arrival(earlier index: Int) -> File? {
        switch states[index] {
        case .arrived, .arrivedAsDrift: earlier[index].file
        case .none, .matched: nil
        }
    }

    /// Takes out entries of an earlier tree whose objects were found.
    mutating func remove(earlier index: Int) { states[index] = .matched }

    mutating func removeMatched() {
        codes.removeAll {
            $0 & ArrivalList.ofEarlier != 0 && states[Int($0 & ~ArrivalList.ofEarlier)] == .matched
        }
    }

    var startIndex: Int { 0 }
    var endIndex: Int { codes.count }

    subscript(position: Int) -> TreeMerge.Arrival {
        let (code, index) = (codes[position], Int(codes[position] & ~ArrivalList.ofEarlier))
        guard code & ArrivalList.ofEarlier != 0 else { return own[index] }
        return (earlier[index].file, states[index] == .arrivedAsDrift, true)
    }

    /// Keeps entries of these positions, which are in order, and frees what the others took.
    ///
    /// - Parameter isKept: called with each entry in order.
    mutating func keep(where isKept: (TreeMerge.Arrival) throws -> Bool) rethrows {
        var kept = ArrivalList(over: earlier)
        swap(&kept.states, &states)
        var all = PackedList<ArrivalCoding>()
        swap(&all, &own)
        var next = 0
        func takeEarlier() throws {
            while next < codes.count, codes[next] & ArrivalList.ofEarlier != 0 {
                let index = Int(codes[next] & ~ArrivalList.ofEarlier)
                let isDrift = kept.states[index] == .arrivedAsDrift
                if try isKept((earlier[index].file, isDrift, true)) { kept.codes.append(codes[next]) }
                next += 1
            }
        }
        try takeEarlier()
        try all.drain { _, arrival in
            next += 1
            if try isKept(arrival) { kept.append(arrival, earlier: nil) }
            try takeEarlier()
        }
        self = kept
    }
}
