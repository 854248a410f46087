import FileSystem

/// Change times of the target's objects, by entry number in the manifest, for entries of which the next manifest needs
/// nothing else. Twelve bytes each, in order.
package struct TargetTimes: Sendable {
    private var numbers: [UInt32] = []
    /// Nanoseconds since 1970.
    private var times: [Int64] = []

    package init() {}

    mutating func append(_ time: FileTime, of number: UInt32) {
        let (seconds, overflow) = time.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        // A time after 2262 is left out, and the entry is compared again.
        guard !overflow else { return }
        numbers.append(number)
        times.append(seconds &+ Int64(time.nanoseconds))
    }

    /// Looks up times by increasing entry number.
    struct Cursor {
        private let times: TargetTimes
        private var next = 0

        init(_ times: TargetTimes) {
            self.times = times
        }

        /// - Parameter number: higher at each call.
        mutating func time(of number: UInt32) -> FileTime? {
            while next < times.numbers.count, times.numbers[next] < number { next += 1 }
            guard next < times.numbers.count, times.numbers[next] == number else { return nil }
            let (seconds, nanoseconds) = times.times[next].quotientAndRemainder(dividingBy: 1_000_000_000)
            return nanoseconds < 0
                ? FileTime(seconds: seconds - 1, nanoseconds: Int32(nanoseconds + 1_000_000_000))
                : FileTime(seconds: seconds, nanoseconds: Int32(nanoseconds))
        }
    }
}
