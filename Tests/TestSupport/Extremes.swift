import Foundation
import FsyncLite

/// Numbers and times at the ends of their ranges.
package enum Extremes {
    package static let numbers = [
        "0", "1", "-1", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
        "9223372036854775806", "9223372036854775807", "9223372036854775808", "-9223372036854775807",
        "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
        "1e400",
        "-1e400",
    ]

    package static let times = [
        "-292277022657-01-27T08:29:52Z", "+292277026596-12-04T15:30:07.999999999Z", "0000-01-01T00:00:00Z",
        "-0001-12-31T23:59:59Z", "9999-12-31T23:59:59.999999999Z", "+10000-01-01T00:00:00Z",
    ]

    /// The numbers and times in a document, without its version.
    package static func fields(of text: [UInt8]) -> [(range: Range<Int>, isTime: Bool)] {
        // A time contains colons.
        let ends = Set("[]{},/ \n\"".utf8)
        let marks = ends.union(":".utf8)
        var (fields, start) = ([(range: Range<Int>, isTime: Bool)](), 0)
        while start < text.count {
            let end = text[start...].firstIndex { ends.contains($0) } ?? text.count
            if Timestamp(iso8601: text[start..<end]) != nil {
                fields.append((start..<end, true))
                start = end + 1
                continue
            }
            let stop = text[start...].firstIndex { marks.contains($0) } ?? text.count
            let digits = text[start..<stop].drop { $0 == UInt8(ascii: "-") }
            let isVersion =
                text[..<start].suffix(12).elementsEqual("\"version\" : ".utf8)
                || text[..<start].suffix(10).elementsEqual("\"version\":".utf8)
            if !isVersion, !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) {
                fields.append((start..<stop, false))
            }
            start = stop + 1
        }
        return fields
    }

    /// A document with other words in these places. If it has a checksum, that is corrected.
    package static func document(_ text: [UInt8], replacing fields: [Range<Int>], with value: String)
        -> [UInt8]
    {
        var changed = text
        for range in fields.sorted(by: { $0.lowerBound > $1.lowerBound }) {
            changed.replaceSubrange(range, with: value.utf8)
        }
        guard let end = changed.firstRange(of: Array("\"xxh64:".utf8)) else { return changed }
        return ManifestText.sealed(Array(changed[..<end.lowerBound]))
    }
}
