/// Filter data of a directory in the source, read once when the directory is entered.
package struct FilterDirectory: Sendable {
    /// The content of its ignore file; nil if there is none, or ignore files are off.
    package var ignoreFile: [UInt8]?
    /// It has a valid `CacheTag`; read only with `Filters.excludesCaches`.
    package var isCache: Bool
    /// It is a mount point; determined only with `Filters.staysOnFileSystem`.
    package var isOtherFileSystem: Bool

    package init(ignoreFile: [UInt8]? = nil, isCache: Bool = false, isOtherFileSystem: Bool = false) {
        self.ignoreFile = ignoreFile
        self.isCache = isCache
        self.isOtherFileSystem = isOtherFileSystem
    }
}

/// The rules in force in one directory. It follows a walk from directory to directory and decides about each entry.
///
/// A walk of the source calls `enter` and `leave`, asks `excludes` for each name, and does not enter excluded
/// directories:
///
///     var scope = FilterScope(filters, root: …)
///     if scope.excludes(path, isDirectory: true) { … } else { scope.enter(path, FilterDirectory(ignoreFile: …)) }
///
/// **Target and manifest.** The decision about a path is the same for source, target and manifest, and filter data
/// comes from the *source*: an edited or deleted ignore file in the target has no effect, and a new one in the source
/// has effect at once. So a scan of the target enters each directory with the filter data of that path *in the source*.
/// A stream that does not tell where directories end, such as a manifest's, calls `move(toParentOf:)` before each
/// question, with a closure that reads the source. Paths in scan order cost one reading per directory. A path that is
/// not a directory in the source has no filter data: `FilterDirectory()`. Only the type is the tree's own: if `x/` is
/// excluded, and the source has a file x but the target a directory, the file is not excluded and the directory is.
/// Then the change of type is refused, since it would delete excluded content.
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
    /// Why everything here and below is excluded, and since which depth.
    private var closing: (decision: FilterDecision, depth: Int)?

    private struct Layer {
        let rules: FilterRules
        /// The depth of its directory below the root.
        let depth: Int
        /// The start of relative paths in a full path.
        let base: Int
    }

    package init(_ filters: Filters, root: FilterDirectory) {
        self.filters = filters
        open(root)
    }

    /// Enters a directory of the present one that is not excluded.
    package mutating func enter(_ path: RelativePath, _ contents: FilterDirectory) {
        assert(nameStart <= path.bytes.count && path.bytes.starts(with: directory))
        parentLengths.append(directory.count)
        directory.append(contentsOf: path.bytes[directory.count...])
        open(contents)
    }

    /// Nothing here takes part, since it is on another file system.
    var isOfOtherFileSystem: Bool { closing?.decision.cause == .otherFileSystem }

    package mutating func leave() {
        guard let length = parentLengths.popLast() else { preconditionFailure("left the root") }
        directory.removeSubrange(length...)
        if let layer = layers.last, layer.depth > parentLengths.count { layers.removeLast() }
        if let closing, closing.depth > parentLengths.count { self.closing = nil }
    }

    /// Moves to the directory that contains a path, from any directory.
    ///
    /// - Parameter reading: reads the filter data of a directory in the source; called for each directory that is
    ///   entered, from the top, and not for excluded ones.
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

    /// The same, with the rule that decides.
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
        if filters.staysOnFileSystem, contents.isOtherFileSystem { return close(.otherFileSystem) }
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

    /// A cache directory's tag is included unless rules exclude it.
    private func isClosed(for path: RelativePath) -> Bool {
        guard let closing else { return false }
        return closing.decision.cause != .cacheDirectory || closing.depth != parentLengths.count
            || !path.bytes[nameStart...].elementsEqual(CacheTag.fileName.bytes)
    }

    // MARK: Rules

    /// The command line's rules act as the deepest layer.
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
