import FileSystem

/// One object of the two trees.
package enum Change: Hashable, Sendable {
    /// An object in both trees, with both entries.
    case match(Match)
    /// An entry of the source that needs a new object. `isDrift`: the manifest has this object at the path.
    case created(File, isDrift: Bool)
    /// An entry of the target that is deleted. `isDrift`: no run made it. `base`: the manifest's entry at its path.
    /// `isOpen`: its extended attributes must be read.
    case deleted(File, isDrift: Bool, base: BaseEntry? = nil, isOpen: Bool = false)

    package enum Kind: Sendable {
        case match, created, deleted
    }

    /// The parts that are read most often, without the files.
    package struct Head: Hashable, Sendable {
        package let causes: Causes
        let facts: Facts
    }

    struct Facts: OptionSet, Hashable, Sendable {
        let rawValue: UInt16

        static let replacesContent = Facts(rawValue: 1)
        static let needsContentComparison = Facts(rawValue: 2)
        static let sourceHasBaseDigest = Facts(rawValue: 4)
        static let targetHasBaseDigest = Facts(rawValue: 8)
        static let needsInspection = Facts(rawValue: 16)
        static let isMislinked = Facts(rawValue: 32)

        // Of a head only.
        static let hasBase = Facts(rawValue: 64)
        static let isRenamed = Facts(rawValue: 128)
        static let isDirectory = Facts(rawValue: 256)
        static let targetIsDirectory = Facts(rawValue: 512)
        /// The source's or the target's entry has other names, or had too many.
        static let hasOtherNames = Facts(rawValue: 1024)
        static let targetIsInState = Facts(rawValue: 2048)
        static let isSocket = Facts(rawValue: 4096)
        /// The target's object has no number yet.
        static let isUnnumbered = Facts(rawValue: 8192)
        static let isCreated = Facts(rawValue: 1 << 14)
        static let isDeleted = Facts(rawValue: 1 << 15)
        static let derived: Facts = [
            .hasBase, .isRenamed, .isDirectory, .targetIsDirectory, .hasOtherNames, .targetIsInState,
            .isSocket, .isUnnumbered,
        ]
    }

    /// The path afterwards; of a deleted entry, the present one.
    var path: RelativePath { file.path }

    /// The source's entry, or the deleted one.
    var file: File {
        switch self {
        case .match(let match): match.source
        case .created(let file, _), .deleted(let file, _, _, _): file
        }
    }

    /// The source's entry; nil for a deleted one.
    var wanted: File? { if case .deleted = self { nil } else { file } }

    /// The target's entry; nil for a created one.
    var target: File? {
        switch self {
        case .match(let match): match.target
        case .created: nil
        case .deleted(let file, _, _, _): file
        }
    }

    /// A deleted entry, with its base.
    var departure: TreeMerge.Departure {
        guard case .deleted(let file, _, let base, _) = self else { preconditionFailure("this does not go") }
        return (file, base)
    }

    var head: Head {
        switch self {
        case .match(let match): return match.head
        case .created(let file, let isDrift):
            return Head(
                causes: isDrift ? .drift : .new, facts: Change.facts(of: file).union(.isCreated))
        case .deleted(let file, let isDrift, let base, let isOpen):
            var facts = Change.facts(of: file).union(.isDeleted)
            if file.isDirectory { facts.insert(.targetIsDirectory) }
            if file.path.isInState { facts.insert(.targetIsInState) }
            if base != nil { facts.insert(.hasBase) }
            if isOpen { facts.insert(.needsInspection) }
            return Head(causes: isDrift ? .drift : .removed, facts: facts)
        }
    }

    /// Sets the extended attributes of an entry that is not compared. It is no longer open.
    mutating func setExtended(_ extended: ExtendedAttributes) {
        switch self {
        case .match(var match):
            (match.source.extended, match.target.extended) = (extended, extended)
            self = .match(match)
        case .deleted(var file, let isDrift, let base, _):
            file.extended = extended
            self = .deleted(file, isDrift: isDrift, base: base)
        case .created: break
        }
    }

    private static func facts(of file: File) -> Facts {
        var facts: Facts = []
        if file.isDirectory { facts.insert(.isDirectory) }
        if file.isMultiplyLinked || file.omitted.contains(.links) { facts.insert(.hasOtherNames) }
        if file.status.type == .socket { facts.insert(.isSocket) }
        if file.object == 0 { facts.insert(.isUnnumbered) }
        return facts
    }
}

extension Change.Head {
    var kind: Change.Kind {
        facts.contains(.isCreated) ? .created : facts.contains(.isDeleted) ? .deleted : .match
    }
    var hasBase: Bool { facts.contains(.hasBase) }
    var isRenamed: Bool { facts.contains(.isRenamed) }
    var isDirectory: Bool { facts.contains(.isDirectory) }
    var targetIsDirectory: Bool { facts.contains(.targetIsDirectory) }
    var targetIsInState: Bool { facts.contains(.targetIsInState) }
    /// A manifest has no sockets.
    var isSocket: Bool { facts.contains(.isSocket) }
    var hasOtherNames: Bool { facts.contains(.hasOtherNames) }
    var isUnnumbered: Bool { facts.contains(.isUnnumbered) }
    var replacesContent: Bool { facts.contains(.replacesContent) }
    /// The entry gets a new object.
    var arrives: Bool { !facts.isDisjoint(with: [.replacesContent, .isCreated]) }
    var changesAttributes: Bool { !replacesContent && causes.changeAttributes }
    var needsInspection: Bool { kind == .match && facts.contains(.needsInspection) }
    /// The extended attributes of a deleted entry must be read.
    var isUnexamined: Bool { kind == .deleted && facts.contains(.needsInspection) }
    var needsContentComparison: Bool { facts.contains(.needsContentComparison) }
    /// A look at the objects is needed before the decision.
    var isOpen: Bool { needsInspection || needsContentComparison }
}

extension Causes {
    var changeAttributes: Bool {
        !isDisjoint(with: [.modified, .mode, .owner, .group, .xattrs, .acls])
    }
}

/// The changes in the order of their paths. At one path, the deleted entry comes first.
package typealias ChangeList = PackedList<ChangeCoding>

extension PackedList<ChangeCoding> {
    func indices(where isWanted: @escaping (Change.Head) -> Bool) -> LazyFilterSequence<Range<Int>> {
        indices.lazy.filter { isWanted(head(at: $0)) }
    }

    func indices(of kind: Change.Kind) -> LazyFilterSequence<Range<Int>> {
        indices(where: { $0.kind == kind })
    }

    /// The change of a kind at a path, in a list that is in order.
    func index(of kind: Change.Kind, at path: RelativePath) -> Int? {
        index(at: path) { $0.kind == kind }
    }

    func index(at path: RelativePath, where isWanted: (Change.Head) -> Bool) -> Int? {
        var index = indices.partitionPoint(where: { order($0, comparedTo: path) < 0 })
        while index < count, order(index, comparedTo: path) == 0 {
            if isWanted(head(at: index)) { return index }
            index += 1
        }
        return nil
    }

    var heads: some RandomAccessCollection<Change.Head> { indices.lazy.map { head(at: $0) } }

    /// A deleted entry, with its base.
    subscript(departure index: Int) -> TreeMerge.Departure { self[index].departure }

    /// The deleted entry at the path of this one.
    func replaced(at index: Int) -> File? {
        guard index > 0, head(at: index - 1).kind == .deleted, order(index - 1, comparedTo: index) == 0 else {
            return nil
        }
        return self[file: index - 1]
    }

    /// The object at the path is replaced by a new one, or by one that returns from the history.
    func isReplaced(at index: Int) -> Bool {
        guard index + 1 < count, order(index, comparedTo: index + 1) == 0 else { return false }
        let next = head(at: index + 1)
        return next.kind == .created || next.targetIsInState
    }

    func targetPath(at index: Int) -> RelativePath { otherPath(at: index) ?? path(at: index) }

    func paths(where isWanted: @escaping (Change.Head) -> Bool) -> PackedPaths {
        PackedPaths(indices(where: isWanted).map { path(at: $0) })
    }

    func targetPaths(where isWanted: @escaping (Change.Head) -> Bool) -> PackedPaths {
        PackedPaths(indices(where: isWanted).map { targetPath(at: $0) })
    }

    /// The present paths of directories in both trees.
    func targetDirectories(where isWanted: @escaping (Change.Head) -> Bool) -> Set<RelativePath> {
        Set(
            indices { $0.kind == .match && $0.targetIsDirectory && isWanted($0) }.map { targetPath(at: $0) })
    }

    /// The match of an index that has one.
    package subscript(match index: Int) -> Match {
        get {
            guard case .match(let match) = self[index] else { preconditionFailure("this is not a match") }
            return match
        }
        set { self[index] = .match(newValue) }
    }

    /// The source's entry, or the deleted one.
    subscript(file index: Int) -> File {
        get { self[index].file }
        set {
            switch self[index] {
            case .match(var match):
                match.source = newValue
                self[index] = .match(match)
            case .created(_, let isDrift): self[index] = .created(newValue, isDrift: isDrift)
            case .deleted(_, let isDrift, let base, let isOpen):
                self[index] = .deleted(newValue, isDrift: isDrift, base: base, isOpen: isOpen)
            }
        }
    }

    /// Changes matches by their index in the list.
    mutating func updateMatches(where isWanted: (Int, Self) -> Bool, _ update: (inout Match) -> Void) {
        for index in indices where head(at: index).kind == .match && isWanted(index, self) {
            var match = self[match: index]
            update(&match)
            self[match: index] = match
        }
    }

    /// Removes changes of a kind by their index in the list.
    mutating func remove(_ kind: Change.Kind, where isRemoved: (Int, Self) -> Bool) {
        removeElements(at: { index, list in list.head(at: index).kind == kind && isRemoved(index, list) })
    }
}
