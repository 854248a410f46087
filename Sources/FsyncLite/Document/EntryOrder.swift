import FileSystem

/// Whether entries follow one another as those of a manifest must: in order, each once, and each after the directory
/// that holds it. Reader and writer ask the same, so that nothing is committed that cannot be read.
enum EntryOrder {
    /// What is wrong with a path; nil when it fits.
    ///
    /// What a path has in common with the one before it was checked with that one.
    ///
    /// - Parameters:
    ///   - previous: the path before it, `.root` before the first.
    ///   - previousType: that one's type.
    static func fault(
        _ path: RelativePath, after previous: RelativePath, _ previousType: FileType
    ) -> String? {
        let shared = previous.firstDifference(from: path)
        guard RelativePath.isValid(path.bytes, from: shared), !path.isRoot else {
            return "\"\(escapedText(path.bytes))\" is no path below the root"
        }
        guard previous.isRoot || previous.order(comparedTo: path, differingAt: shared) < 0 else {
            return "\"\(path)\" does not come after \"\(previous)\""
        }
        guard let slash = path.bytes.lastIndex(of: UInt8(ascii: "/")) else {
            return path.bytes.elementsEqual(FileName.state.bytes)
                ? "\"\(path)\" is reserved at the root" : nil
        }
        // The directory of an entry is the one before it, or one that holds the one before it; that one was checked in
        // its turn.
        let isThere =
            shared >= slash
            && (previous.bytes.count == slash
                ? previousType == .directory : previous.bytes[slash] == UInt8(ascii: "/"))
        return isThere ? nil : "the directory of \"\(path)\" is missing"
    }
}
