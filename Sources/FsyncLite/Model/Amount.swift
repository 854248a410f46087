import FileSystem

/// Numbers in messages for people.
package enum Amount {
    /// For example `1 entry` and `3 entries`. The plural has an `s` if none is given.
    package static func of(_ count: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
        "\(count) \(count == 1 ? one : many ?? "\(one)s")"
    }

    package static func entries(_ count: Int) -> String {
        of(count, "file or directory", "files and directories")
    }

    /// The first names of a list with `count` names: `a, b and 3 more`.
    package static func list(_ first: [String], of count: Int) -> String {
        first.joined(separator: ", ") + (count > first.count ? " and \(count - first.count) more" : "")
    }

    /// In decimal units, as disks are sold: `999 B`, `4.2 MB`.
    package static func bytes(_ bytes: ByteCount) -> String {
        guard bytes >= 1000 else { return "\(bytes) B" }
        var value = Double(bytes.rawCount) / 1000
        var unit = 0
        let units = ["kB", "MB", "GB", "TB", "PB"]
        while value >= 999.95, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// Two sizes, of which the first is larger. If they look the same in units, both are in bytes.
    static func bytes(_ larger: ByteCount, over smaller: ByteCount) -> (larger: String, smaller: String) {
        let (first, second) = (bytes(larger), bytes(smaller))
        return first == second ? ("\(larger) B", "\(smaller) B") : (first, second)
    }
}
