import FileSystem

// The outcomes of staging. The report and the manifest are made from them, not from the plan.

extension Plan {
    /// The plan without the entries that could not be staged, and with only the attributes that the target accepts. It
    /// is nil if there is no difference.
    func asFarAsAchieved(
        _ staged: OperationGraph.StagedList, tried: [RelativePath: File]
    ) -> Plan? {
        var difference = difference
        var problems = problems
        var left: [RelativePath] = []
        var vanished: [RelativePath] = []
        var omissions = OmissionList()
        for (path, outcome) in staged.deviations {
            switch outcome {
            case .staged(let file, _):
                omissions.add(file)
                continue
            // The next run finds that it is missing, and checks the guards before it deletes.
            case .vanished: vanished.append(path)
            case .failed(let problem): problems.append(problem)
            }
            left.append(path)
        }
        if !tried.isEmpty {
            difference.changes.updateMatches(where: { tried[$1.path(at: $0)] != nil }) { match in
                guard let file = tried[match.source.path] else { return }
                omissions.add(file)
                match.source = file
            }
        }
        var root = root
        if let file = tried[.root] {
            omissions.add(file)
            root?.source = file
        }
        guard !left.isEmpty || !omissions.isEmpty || !tried.isEmpty else { return nil }
        difference.omit(left)
        var reduced = Plan(difference, root: root)
        (reduced.notes, reduced.exchanges, reduced.fileSystem) = (notes, exchanges, fileSystem)
        reduced.take(problems + omissions.problems)
        if !vanished.isEmpty {
            let names = Amount.list(vanished.sorted().prefix(3).map(\.description), of: vanished.count)
            reduced.notes.append(
                "\(Amount.entries(vanished.count)) vanished from the source before being copied (\(names)); "
                    + "the next run looks again")
        }
        return reduced
    }

    /// Notes the files whose first part was copied.
    mutating func noteGrowing(_ staged: OperationGraph.StagedList) {
        let growing = staged.deviations.compactMap { _, outcome -> File? in
            guard case .staged(let file, _) = outcome, file.isGrowing else { return nil }
            return file
        }
        guard !growing.isEmpty else { return }
        notes += growing.sorted().map {
            "\($0.path) grew while it was copied: its first \(Amount.bytes($0.size)) are mirrored, "
                + "and the next run compares it again"
        }
        notes.append(
            "files that are written to all the time are best mirrored from a snapshot of the source "
                + "(btrfs, LVM, ZFS)")
    }
}

extension File {
    /// The entry for the manifest: the source's entry with the attributes that the target accepted.
    func achieved(
        as target: FileStatus, _ extended: ExtendedAttributes, refused: ExtendedAttributes,
        mirroring attributes: MirroredAttributes, timeStep: Int64
    ) -> File {
        var omitted = self.omitted.intersection([.links, .unread])
        let isSet = status.type != .symlink || attributes.contains(.symlinks)
        if isSet, !status.modified.isStored(as: target.modified, step: timeStep) { omitted.insert(.modified) }
        if status.type != .symlink, attributes.contains(.mode), target.permissions != status.permissions {
            omitted.insert(.mode)
        }
        if isSet, attributes.contains(.owner),
            target.owner != status.owner || target.group != status.group
        {
            omitted.insert(.owner)
        }
        for attribute in refused.attributes { omitted.insert(attribute.isACL ? .acls : .xattrs) }
        var file = holding(target)
        file.extended = refused.isEmpty ? extended : extended.filter { refused[$0.name] == nil }
        file.omitted = omitted
        return file
    }
}

extension ManifestUpdate {
    /// The manifest of the tree that a plan produces.
    ///
    /// - Parameters:
    ///   - old: the present manifest, read to its end.
    ///   - graph: the operations; nil if there are none.
    init(
        _ plan: Plan, over old: ManifestReader?, staged: OperationGraph.StagedList,
        graph: OperationGraph?, _ numbers: ObjectNumbers
    ) throws {
        let difference = plan.difference
        let policy = difference.policy
        let moves = MoveMap(difference)
        self.init(difference, moves, staged, numbers)
        if let graph {
            touchedDirectories = graph.touchedDirectories
            touchedObjects = ManifestUpdate.touched(difference, moves)
        }
        for problem in plan.problems where ![.attribute, .tooLong].contains(problem.code) {
            distrust(problem.path)
        }
        for path in difference.forgotten { remove(path) }
        var resting = try old.map { try ManifestUpdate.carried(difference, moves, $0) } ?? []
        for (index, entry) in difference.uncovered.enumerated() {
            let (record, isSeen) = (entry.base, entry.isSeen)
            var file = entry.file
            file.object = numbers.found(uncovered: index)
            guard isSeen else {
                resting.append((file, record))
                continue
            }
            // If the object is not the recorded one, its present state is recorded.
            let seen = BaseEntry(
                status: policy.asExamined(
                    record.differs(from: file.status) ? file.status : record.status, record.known, in: file),
                targetInode: file.status.inode,
                targetChanged: policy.movesLater(file.status) ? nil : file.status.changed,
                marks: record.known.marks)
            resting.append((file, seen))
        }
        for (file, _) in resting { remove(file.path) }
        for (file, record) in resting {
            set(
                file.with(record.status).moved(to: moves.carriedPath(of: file.path)),
                targetInode: record.known.targetInode, targetChanged: record.known.targetChanged,
                // The state when it was last covered decides whether to compare it when it is covered again.
                marks: record.known.marks.union(.uncovered),
                at: file.path)
        }
        // A new name of a file of the target is recorded like that file.
        if !difference.links.isEmpty { addNewNames(difference, numbers) }
        // The restored state is from a time before any run covered it.
        uncovered = policy.uncovering.union(difference.staying)
    }

    private mutating func addNewNames(_ difference: Difference, _ numbers: ObjectNumbers) {
        let changes = difference.changes
        let matchIndices = Dictionary(
            uniqueKeysWithValues: changes.indices(of: .match).map { (changes.targetPath(at: $0), $0) })
        for file in difference.arriving {
            guard case .existing(let target)? = difference.links[file.path] else { continue }
            let match =
                matchIndices[target.path].map { changes[match: $0] }
                ?? Match(source: file.recorded(as: target), target: target)
            var entry = match.asStored.moved(to: file.path)
            entry.object = numbers.number(arriving: file)
            set(
                entry, targetInode: target.status.inode,
                marks: difference.policy.marks(of: match.source, base: match.base?.known),
                at: target.path)
        }
    }

    /// The uncovered entries in directories that move.
    private static func carried(
        _ difference: Difference, _ moves: MoveMap, _ old: ManifestReader
    ) throws -> [(file: File, record: BaseEntry)] {
        var found: [(file: File, record: BaseEntry)] = []
        guard difference.hasUncovered, !moves.isEmpty else { return found }
        while try old.advance() {
            guard old.marks.contains(.uncovered), moves.carriedPath(of: old.path) != old.path else {
                continue
            }
            found.append((old.file, BaseEntry(old)))
        }
        guard !found.isEmpty else { return found }
        let named = Set(difference.matches.lazy.map(\.target.path)).union(difference.forgotten)
            .union(difference.deleted.lazy.map(\.path))
        return found.filter { !named.contains($0.file.path) }
    }

    /// The inodes of objects that the commit renames or links, or that it changes under one of several names.
    private static func touched(_ difference: Difference, _ moves: MoveMap) -> Set<UInt64> {
        var touched: Set<UInt64> = []
        func touch(_ file: File) {
            if !file.isDirectory, file.linkCount > 1 { touched.insert(file.status.inode) }
        }
        let changes = difference.changes
        for index in changes.indices where changes.head(at: index).hasOtherNames {
            switch changes[index] {
            case .created: continue
            case .deleted(let file, _, _, _): touch(file)
            case .match(let match):
                if match.replacesContent || match.changesAttributes
                    || (match.isRenamed && !moves.isCarried(match))
                {
                    touch(match.target)
                }
            }
        }
        for case .existing(let file) in difference.links.values { touched.insert(file.status.inode) }
        return touched
    }
}
