/// Rules of names and paths, checked with code that is not the tool's.
package enum PathRules {
    package static func isName(_ name: some Collection<UInt8>) -> Bool {
        !name.isEmpty && !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8)
            && !name.contains(0) && !name.contains(UInt8(ascii: "/"))
    }

    package static func names(of path: [UInt8]) -> [ArraySlice<UInt8>] {
        path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    }

    /// In the order of a scan, the first is before the second.
    package static func isAscending(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        func key(_ path: [UInt8]) -> [UInt8] { path.map { $0 == UInt8(ascii: "/") ? 0 : $0 } }
        return key(first).lexicographicallyPrecedes(key(second))
    }
}
