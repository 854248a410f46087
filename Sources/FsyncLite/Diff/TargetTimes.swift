import FileSystem

/// Change times of the target's objects, by entry number in the manifest. These entries need no other change in the
/// next manifest. Each item is stored as the difference from the last one, in about five bytes.
package struct TargetTimes: Sendable {
    private var numbers = PackedNumbers()
    private var last = Item()

    private struct Item {
        var number: Int64 = 0
        /// Nanoseconds since 1970.
        var time: Int64 = 0
    }

    package init() {}

    /// - Parameter number: higher at each call.
    mutating func append(_ time: FileTime, of number: UInt32) {
        let (seconds, overflow) = time.rawSeconds.multipliedReportingOverflow(by: 1_000_000_000)
        // A time after 2262 is left out, and the entry is compared again.
        guard !overflow else { return }
        let item = Item(number: Int64(number), time: seconds &+ Int64(time.nanoseconds))
        numbers.append(item.number - last.number)
        numbers.append(item.time &- last.time)
        last = item
    }

    /// Looks up times by increasing entry number.
    struct Cursor {
        private var numbers: PackedNumbers.Cursor
        private var item = Item()
        private var isOver = false

        init(_ times: TargetTimes) {
            numbers = PackedNumbers.Cursor(times.numbers)
            advance()
        }

        private mutating func advance() {
            guard let number = numbers.next(), let time = numbers.next() else {
                isOver = true
                return
            }
            item = Item(number: item.number + number, time: item.time &+ time)
        }

        /// - Parameter number: higher at each call.
        mutating func time(of number: UInt32) -> FileTime? {
            while !isOver, item.number < number { advance() }
            guard !isOver, item.number == number else { return nil }
            let (seconds, nanoseconds) = item.time.quotientAndRemainder(dividingBy: 1_000_000_000)
            return nanoseconds < 0
                ? FileTime(seconds: seconds - 1, nanoseconds: Int32(nanoseconds + 1_000_000_000))
                : FileTime(seconds: seconds, nanoseconds: Int32(nanoseconds))
        }
    }
}
