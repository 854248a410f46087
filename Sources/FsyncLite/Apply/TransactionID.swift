import FileSystem

/// Names of transactions: the date, so that they sort, and something random, so that they differ.
enum TransactionID {
    /// Such as `20261121T090000Z-3f2a9c01`.
    static func next(_ time: Timestamp) -> String {
        let date = Timestamp(seconds: time.seconds, nanoseconds: 0) ?? time
        let digits = date.description.filter { $0 != "-" && $0 != ":" }
        return "\(digits)-\(RandomID.hexadecimal(bytes: 4))"
    }
}
