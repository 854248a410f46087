import FsyncLite

/// The options of a return to an earlier tree.
extension Restoration {
    private static let exchange = OptionDescription.flag(
        "--exchange", "build the earlier tree beside TARGET and swap it in (default: if the last run did)")
    private static let noExchange = OptionDescription.flag(
        "--no-exchange", "change TARGET in place, although the last run was an exchange")

    static let exchangeOptions = [exchange, noExchange]

    mutating func readExchange(_ given: GivenOptions) throws {
        guard !given.has(Restoration.exchange) || !given.has(Restoration.noExchange) else {
            throw UsageError("--exchange and --no-exchange exclude each other", hint: "leave one out")
        }
        if given.has(Restoration.exchange) { exchanges = true }
        if given.has(Restoration.noExchange) { exchanges = false }
    }
}
