import FileStorage
import FileSystem

/// The lists of a target, newest first: the manifest, and the lists that the runs found. A list is given by the layer
/// that leads to it from the manifest.
struct TargetLists {
    let history: History
    /// The lists of records that an earlier version wrote.
    private let old: OldHistory?
    /// The part that is read in place of the whole manifest.
    var excerpt: ManifestExcerpt?

    init(_ history: History) throws {
        self.history = history
        let present = try history.state.manifest(withUncovered: true)
        if let present, present.header.nextObject == nil, !history.steps.isEmpty {
            old = try OldHistory(history, present: present)
        } else {
            old = nil
        }
    }

    /// Makes lists of the records that an earlier version wrote. The manifest with the numbers comes last and makes
    /// them valid. Until then every reader uses the records.
    static func convert(_ state: StateDirectory) throws {
        guard try state.manifest().map({ $0.header.nextObject == nil }) ?? false else { return }
        let history = try History(state)
        let lists = try TargetLists(history)
        guard let old = lists.old else { return }
        for (index, step) in history.steps.enumerated().prefix(old.count) {
            var file = try PendingFile(step.header.listName, in: history.directory(step))
            try old.document(index).write(to: &file)
            try file.commit(durably: true)
        }
        let present = try lists.present()
        var header = present.header
        header.nextObject = old.nextObject
        let update = ManifestUpdate()
        var file = try state.newManifest()
        _ = try update.write(header, over: present, to: &file)
        try file.commit(durably: true)
    }

    /// Whether a text is in the file of any step's list. A list that is missing may have it.
    func mayContain(_ text: StaticString) throws -> Bool {
        try old != nil
            || history.steps.contains { step in
                let (name, directory) = (step.header.listName, try history.directory(step))
                guard try directory.status(of: name) != nil else { return true }
                let file = try directory.open(name, [.read, .noFollow, .nonBlocking])
                return try calling("pread", directory.path(of: name)) { () throws(Errno) in
                    try file.contains(text)
                }
            }
    }

    /// The document of a step: the list that it found, and the one that the step before left.
    ///
    /// - Throws: `SyncError` with code `invalidDocument`. Its message names the snapshots that can be read.
    func document(_ index: Int) throws -> ListDocument {
        do {
            return try whole(index)
        } catch let error as SyncError where error.code == .invalidDocument {
            let rest = index == 0 ? "latest" : "latest to latest~\(index)"
            throw SyncError(
                .invalidDocument, path: error.path,
                "\(error.message); latest~\(index + 1) and what is older cannot be read, \(rest) can be")
        }
    }

    private func whole(_ index: Int) throws -> ListDocument {
        if let old { return try old.document(index) }
        let step = history.steps[index]
        let (name, directory) = (step.header.listName, try history.directory(step))
        guard try directory.status(of: name) != nil else {
            throw SyncError(.invalidDocument, path: directory.path(of: name), "it is missing")
        }
        do {
            return try ListDocument(
                directory.open(name, [.read, .noFollow, .nonBlocking]), path: directory.path(of: name))
        } catch let error as SystemError {
            throw SyncError(.invalidDocument, path: error.path, "it cannot be read: \(error.errno)")
        }
    }

    /// The layers from the present list to the one that a step found, and to the one that the step before it left. Also
    /// the places of the objects that these steps moved into the history. The document is that of the step; nil for the
    /// present list.
    typealias Layers = (found: ListLayer, left: ListLayer, places: Places, list: ListDocument?)

    /// - Parameter index: of the snapshot that the step found; 0 for the present list.
    func layers(to index: Int) throws -> Layers {
        var last: Layers = (ListLayer(), ListLayer(), Places(), nil)
        // Only the last layers: a copy of each would make the next step copy all places.
        try forEach(upTo: index) { number, layers in if number == index { last = layers } }
        return last
    }

    /// Passes the layers to each snapshot, the newest first.
    func forEach(upTo last: Int? = nil, _ body: (Int, Layers) throws -> Void) throws {
        var layers: Layers = (ListLayer(), ListLayer(), Places(), nil)
        try body(0, layers)
        for (index, step) in history.steps.prefix(last ?? history.steps.count).enumerated() {
            var list = try document(index)
            layers.places.add(list.stored, of: step.name)
            list.stored.clear()
            layers.list = list
            layers.found = list.step.joined(to: layers.left)
            layers.left = list.hand.joined(to: layers.found)
            try body(index + 1, layers)
        }
    }

    /// A step, by the lists that it found and left.
    struct Step {
        /// The layers from the present list to the one that the step left, and to the one that it found.
        let left, found: ListLayer
        let list: ListDocument
        /// The root as the step left it.
        fileprivate let root: File?
    }

    /// Passes the steps, the newest first.
    func forEachStep(upTo last: Int? = nil, _ body: (Int, Step) throws -> Void) throws {
        var (left, root) = (ListLayer(), try present().header.rootEntry)
        try forEach(upTo: last.map { $0 + 1 }) { number, layers in
            if let list = layers.list {
                try body(
                    number - 1,
                    Step(left: left, found: layers.found, list: list, root: root))
                root = list.header.rootEntry
            }
            left = layers.left
        }
    }

    /// The changes of a step, in the order of paths. A step that only excludes or includes an entry leaves
    /// it unchanged.
    func changes(of step: Step) throws -> Plan {
        let lists = try withPart(of: step.found, step.left)
        let leftOut = lists.excerpt.map { $0.leftOut.covered + $0.leftOut.uncovered } ?? 0
        return try TargetLists.changes(
            from: ListStream(step.found, over: lists.present),
            to: ListStream(step.left, over: lists.present),
            roots: (step.list.header.rootEntry, step.root), leftOut: leftOut)
    }

    /// The lists with the part of the present one that differs from two older ones, if it is small.
    func withPart(of found: ListLayer, _ left: ListLayer) throws -> TargetLists {
        var lists = self
        let present = try present()
        var part = ListPart(of: present, found, left)
        let objects = Set(found.objects).union(left.objects)
        while try present.advance() {
            // A change of one name concerns all names.
            let isWanted =
                part.isElsewhere(present.path) || present.status.isMultiplyLinked
                || objects.contains(present.object)
            guard try part.take(present, isWanted: isWanted) else { return self }
        }
        try part.end()
        lists.excerpt = part.excerpt
        return lists
    }

    /// The first number that no object of the lists has, by the newest list that can be read.
    func nextObject() throws -> UInt64 {
        for index in history.steps.indices {
            do {
                return try document(index).header.nextObject ?? 1
            } catch let error as SyncError where error.code == .invalidDocument {
                continue
            }
        }
        return 1
    }

    /// The paths below the history of the objects in the lists, and of the directories that contain them.
    func needed() throws -> Set<RelativePath> {
        var (named, places) = (Set<UInt64>(), Places())
        for (index, step) in history.steps.enumerated() {
            let list = try document(index)
            places.add(list.stored, of: step.name)
            for layer in [list.step, list.hand] { named.formUnion(layer.objects) }
        }
        var needed: Set<RelativePath> = []
        for object in named {
            guard case .history(let path)? = places.place(of: object, present: { _ in nil }) else { continue }
            needed.insert(path)
            needed.formUnion(path.ancestors)
        }
        return needed
    }

    /// The newest steps that can be taken back one by one. No run between them was pruned. Each changed an entry, its
    /// coverage, or the mirrored attributes. A run that only found changes by hand, or only replaced rotten copies, is
    /// left out.
    ///
    /// - Parameter count: the maximum number of steps.
    /// - Returns: their indices.
    func undoable(_ count: Int, from present: ManifestHeader) throws -> [Int] {
        var found: [Int] = []
        for (index, step) in history.steps.enumerated() {
            guard found.count < count, !step.header.isJoined else { break }
            let summary = step.header.summary
            if try summary.actions > summary.update || step.header.previous == nil
                || changesRecord(index, from: present)
            {
                found.append(index)
            }
        }
        return found
    }

    /// Whether a step without an action changed its list.
    private func changesRecord(_ index: Int, from present: ManifestHeader) throws -> Bool {
        let list = try document(index)
        let newer = try index == 0 ? present : document(index - 1).header
        return !list.step.isEmpty
            || (list.header.filters, list.header.attributes) != (newer.filters, newer.attributes)
    }

    /// The paths of entries that were made by hand in the target, and that the newer steps added to the manifest.
    func madeByHand(before index: Int) throws -> [RelativePath] {
        try (0..<index).flatMap { step in
            try document(step).hand.lines.values.filter { $0.entry == nil }.map(\.path)
        }
    }

    /// The paths of changes by hand between these steps, as the newer one found them.
    func changedByHand(between steps: Range<Int>) throws -> Set<RelativePath> {
        try Set(
            steps.dropLast().flatMap { step in
                try document(step).hand.lines.values.filter { $0.below == nil }.map(\.path)
            })
    }

    /// The paths of objects in the present list.
    func objects(_ wanted: some Sequence<UInt64>) throws -> [UInt64: RelativePath] {
        let wanted = Set(wanted)
        var paths: [UInt64: RelativePath] = [:]
        guard !wanted.isEmpty else { return paths }
        let present = try present()
        while try present.advance() {
            if wanted.contains(present.object), paths[present.object] == nil {
                paths[present.object] = present.path
            }
        }
        return paths
    }

    /// The entries of a list in order, as they are shown to people. Entries that its filters exclude are included if a
    /// run moved them into the history.
    func entries(_ layer: ListLayer, _ places: Places) throws -> ListStream<ManifestReader> {
        try ListStream(layer, withUncovered: false, displaced: places, over: present)
    }

    /// The present list, with uncovered entries.
    func present() throws -> ManifestReader {
        if let excerpt { return try ManifestReader(excerpt) }
        return try history.state.manifest(of: history.state.path(of: .manifest), withUncovered: true)
    }

    /// The changes that turn one list into another one.
    ///
    /// - Parameters:
    ///   - roots: the roots of the two lists, if they are known.
    ///   - leftOut: the number of entries that are equal in both, and that the streams leave out.
    static func changes(
        from old: some EntryStream, to new: some EntryStream, roots: (old: File?, new: File?),
        leftOut: Int = 0
    ) throws -> Plan {
        var policy = ComparisonPolicy()
        policy.knowsExtended = true
        policy.earlier = ComparisonPolicy.Earlier()
        policy.targetIsBase = true
        var merge = TreeMerge(policy)
        try merge.run(source: NumberedEntries(new), target: NumberedEntries(old))
        var root: Match?
        if let old = roots.old, let new = roots.new {
            root = Match(source: new, target: old, base: nil)
            root?.compare(by: policy)
        }
        var difference = try Difference(matching: merge)
        difference.sourceCount += leftOut
        difference.targetCount += leftOut
        return Plan(difference, root: root)
    }
}

/// The entries of a list, identified by object number only: objects in the history have no recorded inode.
final class NumberedEntries: AnyEntries {
    override var status: FileStatus { base.status.with(FileIdentity(ofObject: base.object)) }
    override var file: File { base.file.with(status) }
}
