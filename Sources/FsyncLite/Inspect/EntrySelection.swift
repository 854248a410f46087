import FileSystem

/// Which entries of a tree somebody wants to see: those that meet every condition that is set.
package struct EntrySelection: Sendable {
    /// What is in a directory that matches is selected with it; the last match decides. None select everything.
    private var patterns = FilterRules()
    package var types: Set<FileType> = []
    /// Where there is a limit, only files are selected.
    package var sizes = SizeLimits()
    /// Modified then or later.
    package var earliest: Timestamp?
    /// Modified before.
    package var end: Timestamp?

    /// The directories on the way to the present entry for which a pattern decided.
    private var decided: [(directory: RelativePath, isSelected: Bool)] = []

    package init() {}

    /// Adds a pattern with gitignore's meaning.
    package mutating func add(pattern: [UInt8]) {
        patterns.append(FilterRule(pattern, from: .argument(patterns.rules.count + 1)))
    }

    /// Whether the present entry is selected; to be asked of each entry in order.
    mutating func selects(_ entry: any EntryStream) -> Bool {
        let status = entry.status
        if !patterns.rules.isEmpty, !matches(entry.path, isDirectory: status.type == .directory) {
            return false
        }
        if !types.isEmpty, !types.contains(status.type) { return false }
        if !sizes.isEmpty,
            status.type != .file || sizes.exclusion(of: status.type, size: status.size) != nil
        {
            return false
        }
        if let earliest, status.modified < earliest.fileTime { return false }
        if let end, status.modified >= end.fileTime { return false }
        return true
    }

    private mutating func matches(_ path: RelativePath, isDirectory: Bool) -> Bool {
        while let last = decided.last, !path.isBelow(last.directory) { decided.removeLast() }
        let name = path.bytes.count - path.lastComponent.count
        guard
            let match = patterns.lastMatch(path.bytes.span, base: 0, name: name, isDirectory: isDirectory)
        else { return decided.last?.isSelected ?? patterns.rules.allSatisfy(\.isInclude) }
        // What `!` takes back from a list of what is ignored, it leaves out of a list of what is shown.
        let isSelected = !patterns.rules[match].isInclude
        if isDirectory { decided.append((path, isSelected)) }
        return isSelected
    }
}

extension Timestamp {
    /// A time as somebody writes a condition: a moment (`2026-11-20T10:00:00Z`), a day, which is its first moment in
    /// UTC, or an age before now (`12h`, `7d`, `1y6mo`); nil for anything else.
    package init?(condition text: String) {
        if let age = Age(text) {
            let now = Timestamp.now
            self.init(seconds: now.seconds - age.seconds, nanoseconds: now.nanoseconds)
        } else {
            self.init(iso8601: Array((text.contains("T") ? text : text + "T00:00:00Z").utf8)[...])
        }
    }
}
