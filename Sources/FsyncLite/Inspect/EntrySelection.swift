import FileSystem

/// Selects the entries of a tree that meet every given condition.
package struct EntrySelection: Sendable {
    /// The entries of a matching directory are selected too; the last match decides. Without patterns, all are
    /// selected.
    private var patterns = FilterRules()
    package var types: Set<FileType> = []
    /// With a limit, only files are selected.
    package var sizes = SizeLimits()
    /// Modified at this time or later.
    package var earliest: Timestamp?
    /// Modified before this time.
    package var end: Timestamp?

    /// The directories above the present entry for which a pattern decided.
    private var decided: [(directory: RelativePath, isSelected: Bool)] = []

    package init() {}

    /// Adds a pattern with gitignore's syntax.
    ///
    /// - Returns: false if it can never match.
    package mutating func add(pattern: [UInt8]) -> Bool {
        let rule = FilterRule(pattern, from: .argument(patterns.rules.count + 1))
        patterns.append(rule)
        return rule.canMatch
    }

    /// Whether the present entry is selected; called for each entry in order.
    mutating func selects(_ entry: some EntryStream) -> Bool {
        let isDirectory = entry.status.type == .directory
        return (patterns.rules.isEmpty || matches(entry.path, isDirectory: isDirectory))
            && meets(entry.status)
    }

    /// Whether an entry is selected; the directories above it need not come before it.
    func selectsAlone(_ entry: some EntryStream) -> Bool {
        let status = entry.status
        return meets(status)
            && (patterns.rules.isEmpty || selects(entry.path, status.type == .directory))
    }

    private func meets(_ status: FileStatus) -> Bool {
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

    /// Whether the patterns select a path, by itself or with a directory above it. Without patterns, they select all.
    func selects(_ path: RelativePath, _ isDirectory: Bool) -> Bool {
        var selection = self
        for above in Array(path.ancestors).reversed() where !above.isRoot {
            _ = selection.matches(above, isDirectory: true)
        }
        return selection.matches(path, isDirectory: isDirectory)
    }

    private mutating func matches(_ path: RelativePath, isDirectory: Bool) -> Bool {
        while let last = decided.last, !path.isBelow(last.directory) { decided.removeLast() }
        let name = path.bytes.count - path.lastComponent.count
        guard
            let match = patterns.lastMatch(path.bytes.span, base: 0, name: name, isDirectory: isDirectory)
        else { return decided.last?.isSelected ?? patterns.rules.allSatisfy(\.isInclude) }
        // `!` removes a path from a list of ignored paths; here it removes it from the selected ones.
        let isSelected = !patterns.rules[match].isInclude
        if isDirectory { decided.append((path, isSelected)) }
        return isSelected
    }
}
