import FileSystem

/// The order of a manifest's entries: sorted, without duplicates, and each after its directory. Reader and writer share
/// this check, so no unreadable manifest is committed.
enum EntryOrder {
    /// The fault of a path; nil if it is valid.
    ///
    /// The part that it shares with the previous path was checked before.
    ///
    /// - Parameters:
    ///   - previous: the path before it; `.root` before the first.
    ///   - previousType: the type of that entry.
    static func fault(
        _ path: RelativePath, after previous: RelativePath, _ previousType: FileType
    ) -> String? {
        let shared = previous.firstDifference(from: path)
        guard RelativePath.isValid(path.bytes, from: shared), !path.isRoot else {
            return "\"\(escapedText(path.bytes))\" is not a path below the root"
        }
        guard previous.isRoot || previous.order(comparedTo: path, differingAt: shared) < 0 else {
            return "\"\(path)\" does not come after \"\(previous)\""
        }
        guard let slash = path.bytes.lastIndex(of: UInt8(ascii: "/")) else {
            return path.bytes.elementsEqual(FileName.state.bytes)
                ? "\"\(path)\" is reserved at the root" : nil
        }
        // The directory of an entry is the previous entry or one of that entry's ancestors. Those were checked before.
        let isThere =
            shared >= slash
            && (previous.bytes.count == slash
                ? previousType == .directory : previous.bytes[slash] == UInt8(ascii: "/"))
        return isThere ? nil : "the directory of \"\(path)\" is missing"
    }
}
