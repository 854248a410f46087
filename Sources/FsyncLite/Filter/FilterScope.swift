/// Data for the filters about a directory in the source. It is read once, when the directory is entered.
package struct FilterDirectory: Sendable {
    /// The content of its ignore file; nil if there is none, or ignore files are off.
    package var ignoreFile: [UInt8]?
    /// Whether it has a valid `CacheTag`. Read only with `Filters.excludesCaches`.
    package var isCache = false
    /// Whether it is a mount point. Determined only with `Filters.excludesOtherFileSystems`.
    package var isOtherFileSystem = false
}

/// The rules in force in one directory. It follows a walk through the directories, and decides about each entry.
///
/// A walk of the source calls `enter` and `leave`. It asks `excludes` for each name, and does not enter excluded
/// directories:
///
///     var scope = FilterScope(filters, root: …)
///     if scope.excludes(path, isDirectory: true) { … } else { scope.enter(path, FilterDirectory(ignoreFile: …)) }
///
/// **Target and manifest.** The decision about a path is the same for source, target and manifest. Filter data is
/// always from the *source*. An edited or deleted ignore file in the target has no effect, and a new one in the source
/// has effect at once. So a scan of the target enters each directory with the filter data of that path *in the source*.
/// A manifest, for example, does not show the ends of directories. Such a stream calls `move(toParentOf:)` before each
/// question, with a closure that reads the source. Paths in the order of a scan need one reading per directory. If a
/// path is not a directory in the source, its filter data is `FilterDirectory()`.
/// Only the type is that of the tree itself. Example: `x/` is excluded, and x is a file in the source but a directory
/// in the target. Then the file is included and the directory is excluded. This change of type is refused, because it
/// would delete excluded content.
///
/// Sizes are not checked here; see `SizeLimits`. If `Filters.isEmpty`, no scope is needed.
package struct FilterScope: Sendable {
    private let filters: Filters
    /// The directory whose entries are decided.
    private var directory: [UInt8] = []
    /// For each open directory below the root, the length of its parent's path.
    private var parentLengths: [Int] = []
    /// The patterns of open directories that have any, shallowest first.
    private var layers: [Layer] = []
    /// The decision that excludes all entries here and below, and the depth at which it began.
    private var closing: (decision: FilterDecision, depth: Int)?

    private struct Layer {
        let rules: FilterRules
        /// The depth of its directory below the root.
        let depth: Int
        /// The offset in a full path at which relative paths start.
        let base: Int
    }

    package init(_ filters: Filters, root: FilterDirectory) {
        self.filters = filters
        open(root)
    }

    /// Enters a subdirectory of the present directory. It must not be excluded.
    package mutating func enter(_ path: RelativePath, _ contents: FilterDirectory) {
        assert(nameStart <= path.bytes.count && path.bytes.starts(with: directory))
        parentLengths.append(directory.count)
        directory.append(contentsOf: path.bytes[directory.count...])
        open(contents)
    }

    /// Whether all entries here are left out because they are on another file system.
    var isOfOtherFileSystem: Bool { closing?.decision.cause == .otherFileSystem }

    package mutating func leave() {
        guard let length = parentLengths.popLast() else { preconditionFailure("left the root") }
        directory.removeSubrange(length...)
        if let layer = layers.last, layer.depth > parentLengths.count { layers.removeLast() }
        if let closing, closing.depth > parentLengths.count { self.closing = nil }
    }

    /// Moves to the directory that contains a path, from any directory.
    ///
    /// - Parameter reading: reads the filter data of a directory in the source. It is called for each directory that is
    ///   entered, from the top. It is not called for excluded ones.
    package mutating func move<Failure: Error>(
        toParentOf path: RelativePath, reading: (RelativePath) throws(Failure) -> FilterDirectory
    ) throws(Failure) {
        let slash = UInt8(ascii: "/")
        while !directory.isEmpty,
            path.bytes.count <= directory.count || path.bytes[directory.count] != slash
                || !path.bytes.starts(with: directory)
        {
            leave()
        }
        while let end = path.bytes[nameStart...].firstIndex(of: slash) {
            let next = RelativePath(validated: Array(path.bytes[..<end]))
            guard closing == nil else {
                enter(next, FilterDirectory())
                continue
            }
            let decision = decision(next, isDirectory: true)
            enter(next, decision.isExcluded ? FilterDirectory() : try reading(next))
            if decision.isExcluded { close(decision.cause) }
        }
    }

    /// Whether an entry of the present directory is excluded.
    package func excludes(_ path: RelativePath, isDirectory: Bool) -> Bool {
        if isClosed(for: path) { return true }
        guard let (layer, rule) = lastMatch(path, isDirectory: isDirectory) else { return false }
        return !rules(of: layer).span[rule].isInclude
    }

    /// The same decision, with its rule.
    package func decision(_ path: RelativePath, isDirectory: Bool) -> FilterDecision {
        if let closing, isClosed(for: path) { return closing.decision }
        guard let (layer, index) = lastMatch(path, isDirectory: isDirectory) else {
            return .includedByDefault
        }
        let rule = rules(of: layer)[index]
        return FilterDecision(isExcluded: !rule.isInclude, cause: .rule(rule))
    }

    // MARK: Directories

    private var nameStart: Int { directory.isEmpty ? 0 : directory.count + 1 }

    private mutating func open(_ contents: FilterDirectory) {
        guard closing == nil else { return }
        if filters.excludesOtherFileSystems, contents.isOtherFileSystem { return close(.otherFileSystem) }
        if filters.excludesCaches, contents.isCache { close(.cacheDirectory) }
        guard let file = contents.ignoreFile, let name = filters.ignoreFileName else { return }
        var rules = FilterRules()
        rules.append(
            contentsOf: file, path: directory + (directory.isEmpty ? [] : [UInt8(ascii: "/")]) + name.bytes)
        guard !rules.rules.isEmpty else { return }
        layers.append(Layer(rules: rules, depth: parentLengths.count, base: nameStart))
    }

    private mutating func close(_ cause: FilterDecision.Cause?) {
        let path = RelativePath(validated: directory)
        closing = (FilterDecision(isExcluded: true, cause: cause, directory: path), parentLengths.count)
    }

    /// The tag of a cache directory is included, unless rules exclude it.
    private func isClosed(for path: RelativePath) -> Bool {
        guard let closing else { return false }
        return closing.decision.cause != .cacheDirectory || closing.depth != parentLengths.count
            || !path.bytes[nameStart...].elementsEqual(CacheTag.fileName.bytes)
    }

    // MARK: Rules

    /// The rules of the command line act as the deepest layer.
    private func lastMatch(_ path: RelativePath, isDirectory: Bool) -> (layer: Int, rule: Int)? {
        assert(nameStart < path.bytes.count && path.bytes.starts(with: directory))
        let (path, name) = (path.bytes.span, nameStart)
        if let rule = filters.list.lastMatch(path, base: 0, name: name, isDirectory: isDirectory) {
            return (layers.count, rule)
        }
        let layers = layers.span
        var index = layers.count
        while index > 0 {
            index -= 1
            let base = layers[index].base
            if let rule = layers[index].rules.lastMatch(
                path, base: base, name: name, isDirectory: isDirectory)
            {
                return (index, rule)
            }
        }
        return nil
    }

    private func rules(of layer: Int) -> [FilterRule] {
        layer < layers.count ? layers[layer].rules.rules : filters.rules
    }
}
