import FileStorage
import FileSystem
import FoundationEssentials

/// What an apply displaced and how to revert it: two documents in `history/TX`, committed with the tree.
///
/// `header.json` has the totals, the id of the previous snapshot, and the name of the file of undo entries:
/// `actions.json`, or another if snapshots in between were pruned. The entries use the verbs of a plan: `create` for
/// what the apply deleted and `update` for what it replaced, each with the entry as it was and its slot (without one,
/// it is inside the slot of a directory above it); `attributes` with the entry as it was; `move` back; and `delete`
/// for what it created. `uncovered` marks an entry that was not covered before; `cover` is such an entry that the
/// apply did not change, and `uncover` one that the apply stopped covering.
///
/// With the same verbs, `drift` leads from the tree that the apply found to the one that the previous apply left.
/// Content edited by hand in between is lost; its slots do not exist.
package struct HistoryRecord: Sendable {
    package struct Header: Codable, Hashable, Sendable {
        package var format = formatName
        package var version = 1
        package var id: String
        /// ISO 8601.
        package var created: String
        /// See `Snapshot`.
        package var utcOffset: Int64?
        /// The previous snapshot; nil if there was no manifest.
        package var previous: String?
        package var previousCreated: String?
        package var previousUtcOffset: Int64?
        package var previousLabel: String?
        /// The filters of the previous snapshot, and the attributes that it did not mirror; nil if not recorded.
        package var previousFilters: [String]?
        package var previousWithout: [String]?
        /// The sources of the previous snapshot; nil if not recorded.
        package var previousSources: [Source]?
        /// The user's name for the snapshot.
        package var label: String?
        package var create: Int
        package var update: Int
        package var attributes: Int
        package var move: Int
        package var delete: Int
        /// Bytes of displaced content.
        package var bytesHeld: ByteCount
        package var actions: String?
        /// Other transactions' directories that hold what these entries restore.
        package var holds: [String]?
        /// Clones made by an exchange: the inodes of each clone and of its original, where names of the original are
        /// in the history.
        package var clones: [Clone]?
        /// Snapshots were pruned, and what only they needed may not all be removed yet.
        package var isUnswept: Bool?

        /// As in a manifest's header.
        package struct Source: Codable, Hashable, Sendable {
            package var name: String?
            package var path: String?
            /// A path that is not UTF-8.
            package var pathBase64: Data?
            package var inode: UInt64
            package var created: String?
            package var fileSystem: String
        }

        package struct Clone: Codable, Hashable, Sendable {
            package var inode: UInt64
            package var original: UInt64
        }

        package static let formatName = "fsync-lite-history"

        /// Reads the header of a transaction from its directory in the history.
        package static func read(_ transaction: FileName, from directory: Directory) throws -> Header {
            // In bytes; a header needs far less.
            let header: Header = try CodableStorage.document(headerName, in: directory, limit: 1 << 20)
            guard let fault = header.fault(of: transaction) else { return header }
            throw SyncError(.invalidDocument, path: directory.path(of: headerName), fault)
        }

        /// Why the header is invalid; nil if it is valid.
        private func fault(of transaction: FileName) -> String? {
            let day: Int64 = 86_400
            if format != Header.formatName { return "this is no \(Header.formatName) document" }
            if version != 1 { return "version \(version) is not one that this fsync-lite reads (1)" }
            if !id.utf8.elementsEqual(transaction.bytes) { return "the id is another transaction's" }
            let sources = previousSources ?? []
            for time in ([created, previousCreated] + sources.map(\.created)).compactMap(\.self)
            where Timestamp(iso8601: time) == nil {
                return "this is no time: \(escapedText(time.utf8))"
            }
            if ![utcOffset, previousUtcOffset].allSatisfy({ (-day...day).contains($0 ?? 0) }) {
                return "this is no offset from UTC"
            }
            if (previousWithout ?? []).contains(where: { MirroredAttributes.named($0) == nil }) {
                return "this is no attribute: \(escapedText((previousWithout ?? []).joined().utf8))"
            }
            if previousSources != nil, !ManifestHeader.isValid(sources.map(ManifestHeader.Source.init)) {
                return "these are no sources of a mirror"
            }
            if actions.map({ FileName($0.utf8) == nil || !$0.hasPrefix("actions") }) ?? false {
                return "this is no file of actions"
            }
            for name in holds ?? [] where FileName(name.utf8).map(TransactionID.isName) != true {
                return "this is no transaction: \(escapedText(name.utf8))"
            }
            let numbers = [create, update, attributes, move, delete]
            return numbers.allSatisfy { $0 >= 0 } ? nil : "a number below zero"
        }

        func write(to directory: Directory) throws {
            try CodableStorage(DiskStorage(directory), keys: .snakeCase)
                .store(self, for: headerName.description)
        }

        /// Gives the record of a prepared transaction the label that the present snapshot has got since.
        static func renewLabel(of transaction: FileName, in stage: Directory, _ history: History) throws {
            var header = try read(transaction, from: stage)
            let label = try history.snapshots().first?.label
            guard header.previousLabel != label else { return }
            header.previousLabel = label
            try header.write(to: stage)
        }

        /// By the inode of a clone, the inode of its original.
        var originals: [UInt64: UInt64] {
            Dictionary((clones ?? []).map { ($0.inode, $0.original) }, uniquingKeysWith: { $1 })
        }

        static func clones(_ originals: [UInt64: UInt64]) -> [Clone]? {
            guard !originals.isEmpty else { return nil }
            return originals.map { Clone(inode: $0.key, original: $0.value) }.sorted { $0.inode < $1.inode }
        }

        var summary: ActionSummary {
            ActionSummary(
                create: create, update: update, attributes: attributes, move: move, delete: delete)
        }
        /// The filters of the previous snapshot; none if there was no manifest.
        var filtersBefore: FilterSummary? {
            (previous == nil ? [] : previousFilters).map(FilterSummary.init(lines:))
        }
        var sourcesBefore: [ManifestHeader.Source]? { previousSources?.map(ManifestHeader.Source.init) }
        var attributesBefore: MirroredAttributes? {
            previousWithout.map { names in
                MirroredAttributes.all.subtracting(
                    MirroredAttributes(names.compactMap(MirroredAttributes.named)))
            }
        }
        var actionsName: FileName { actions.flatMap { FileName($0.utf8) } ?? HistoryRecord.actionsName }
        /// The list that stands beside the actions.
        var listName: FileName {
            let rest = actionsName.bytes.dropFirst("actions".utf8.count)
            return FileName(Array("list".utf8) + rest) ?? ListDocument.name
        }
        var holders: [FileName] { (holds ?? []).compactMap { FileName($0.utf8) } }
    }

    static let headerName = FileName("header.json")
    static let actionsName = FileName("actions.json")

    package private(set) var header: Header
    package let actions: UndoList
    package let drift: [UndoEntry]

    /// - Parameters:
    ///   - previous: the snapshot that the apply found.
    ///   - opened: directories that the apply made accessible, with their previous permissions.
    init(
        id: String, created: Timestamp, previous: Snapshot?, manifest: ManifestHeader?, plan: Plan,
        graph: OperationGraph, originals: [UInt64: UInt64] = [:], opened: [RelativePath: UInt16] = [:]
    ) {
        let difference = plan.difference
        var bytesHeld: ByteCount = 0
        func hold(_ file: File) { if file.isFile { bytesHeld += file.size } }
        for (file, _) in difference.deleted { hold(file) }
        let matches = difference.matches
        for index in matches.indices where matches.head(at: index).replacesContent {
            hold(matches[index].target)
        }
        let summary = plan.summary
        header = Header(
            id: id, created: created.description, utcOffset: LocalZone.offset(at: created.rawSeconds),
            previous: previous?.id, previousCreated: previous?.created?.description,
            previousUtcOffset: previous?.utcOffset, previousLabel: previous?.label,
            previousFilters: manifest?.filters.lines, previousWithout: manifest?.attributes.missingNames,
            previousSources: manifest?.sources.nonEmpty?.map(Header.Source.init),
            create: summary.create, update: summary.update, attributes: summary.attributes,
            move: summary.move, delete: summary.delete,
            bytesHeld: bytesHeld)
        header.clones = Header.clones(originals)
        actions = UndoList(plan, graph, opened: opened, transaction: id)
        drift =
            HistoryRecord.inverses(of: difference.drift + difference.driftOfDisplaced, transaction: id)
            + [HistoryRecord.inverse(ofRoot: plan, manifest)].compactMap(\.self)
    }

    /// The record that leads from one record's snapshot, past pruned ones, to an earlier snapshot.
    init(_ header: Header, oldest: Header, _ changes: ReverseDelta, drift: UndoEntries) {
        let entries = changes.actions
        actions = UndoList(entries)
        self.drift = Array(drift)
        self.header = header
        (self.header.previous, self.header.previousLabel) = (oldest.previous, oldest.previousLabel)
        (self.header.previousCreated, self.header.previousUtcOffset) = (
            oldest.previousCreated, oldest.previousUtcOffset
        )
        (self.header.previousFilters, self.header.previousWithout, self.header.previousSources) = (
            oldest.previousFilters, oldest.previousWithout, oldest.previousSources
        )
        self.header.actions = "actions-\(RandomID.hexadecimal(bytes: 8)).json"
        let holders = Set(entries.compactMap { $0.slot.flatMap { FileName($0.components[0]) } })
        self.header.holds = holders.map(\.description).filter { $0 != header.id }.sorted()
        self.header.isUnswept = true
        self.header.clones = Header.clones(changes.originals)
    }

    /// The root as the previous apply left it; nil where it is unchanged.
    private static func inverse(ofRoot plan: Plan, _ manifest: ManifestHeader?) -> UndoEntry? {
        guard let found = plan.root?.target, let manifest, let recorded = manifest.rootEntry else {
            return nil
        }
        // With different selections, attributes missing from one say nothing.
        let knowsExtended = manifest.attributes == plan.difference.policy.attributes
        func attributes(_ file: File) -> Attributes {
            Attributes(file.status, extended: knowsExtended ? file.extended : nil)
        }
        guard attributes(recorded) != attributes(found) else { return nil }
        return UndoEntry(.attributes, recorded, causes: [.drift])
    }

    private static func inverses(of drift: [Drift], transaction: String) -> [UndoEntry] {
        drift.enumerated().compactMap { number, drift in
            guard let recorded = drift.recorded else {
                guard let found = drift.found, found.status.type != .socket else { return nil }
                return UndoEntry(.delete, found, causes: [.drift])
            }
            // Displaced objects are known by their identity in the target.
            var status = recorded.status
            if let found = drift.found, drift.isIntact {
                (status.inode, status.created) = (found.status.inode, found.status.created)
                status.links = found.status.links
                return UndoEntry(
                    .attributes, recorded.with(status), causes: [.drift], wasUncovered: drift.wasUncovered)
            }
            // The source's object, even if it has this identity, does not hold this content. Other names of the file may
            // still lead to it.
            let hasOtherNames = recorded.isMultiplyLinked
            (status.inode, status.created) = (hasOtherNames ? drift.inode : 0, nil)
            if !hasOtherNames { status.links = 1 }
            return UndoEntry(
                drift.found == nil ? .create : .update, recorded.with(status),
                slot: RelativePath("\(transaction)/lost/\(number)"), causes: [.drift],
                wasUncovered: drift.wasUncovered)
        }
    }

    /// Writes both documents into the transaction's directory. The header comes last and makes them valid.
    func write(to directory: Directory, durably: Bool) throws {
        var file = try PendingFile(header.actionsName, in: directory)
        try HistoryRecord.write(actions, drift: drift, id: header.id, to: &file)
        try file.commit(durably: durably)
        try header.write(to: directory)
    }
}

extension HistoryRecord.Header.Source {
    fileprivate init(_ source: ManifestHeader.Source) {
        let path = String(validating: source.path, as: UTF8.self)
        self.init(
            name: source.name, path: path, pathBase64: path == nil ? Data(source.path) : nil,
            inode: source.identity.inode, created: source.identity.created?.description,
            fileSystem: source.fileSystem)
    }
}

extension ManifestHeader.Source {
    fileprivate init(_ recorded: HistoryRecord.Header.Source) {
        self.init(
            name: recorded.name,
            path: recorded.pathBase64.map(Array.init) ?? Array((recorded.path ?? "").utf8),
            identity: FileIdentity(
                inode: recorded.inode, created: recorded.created.flatMap(Timestamp.init(iso8601:))),
            fileSystem: recorded.fileSystem)
    }
}
