import FileStorage
import FileSystem
import FoundationEssentials

/// The record of a run, in `history/TX`, committed with the tree. `header.json` has the totals, the id of the previous
/// snapshot, and the name of the list. After pruning in between, the list has another name.
package enum HistoryRecord {
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
        /// Bytes of content in the directories of the record, as `StoredBytes` counts them.
        package var bytesHeld: ByteCount
        /// `bytesHeld` is valid. Otherwise the directories have to be looked at: the record is of an earlier version,
        /// or a later run took objects out.
        package var isMeasured: Bool?
        /// Bytes of content that the run copied; nil if not recorded.
        package var copied: ByteCount?
        /// From the beginning of the run to its commit; nil if not recorded.
        package var seconds: Int64?
        /// The list; nil for `list.json`.
        package var list: String?
        /// The undo entries that an earlier version wrote when it pruned snapshots in between.
        package var actions: String?
        /// Other transactions' directories with the objects that these entries restore.
        package var holds: [String]?
        /// Clones that an exchange of an earlier version made, if names of the original are in the history. Each has
        /// the inodes of clone and original.
        package var clones: [Clone]?
        /// Snapshots were pruned, and some objects that only they needed may still be there.
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
                return "this is not a time: \(escapedText(time.utf8))"
            }
            if ![utcOffset, previousUtcOffset].allSatisfy({ (-day...day).contains($0 ?? 0) }) {
                return "this is not an offset from UTC"
            }
            if (previousWithout ?? []).contains(where: { MirroredAttributes.named($0) == nil }) {
                return "this is not an attribute: \(escapedText((previousWithout ?? []).joined().utf8))"
            }
            if previousSources != nil, !ManifestHeader.isValid(sources.map(ManifestHeader.Source.init)) {
                return "these are not the sources of a mirror"
            }
            if actions.map({ FileName($0.utf8) == nil || !$0.hasPrefix("actions") }) ?? false {
                return "this is not a file of actions"
            }
            if list.map({ FileName($0.utf8) == nil || !$0.hasPrefix("list") }) ?? false {
                return "this is not a list"
            }
            for name in holds ?? [] where FileName(name.utf8).map(TransactionID.isName) != true {
                return "this is not a transaction: \(escapedText(name.utf8))"
            }
            let numbers = [create, update, attributes, move, delete, Int(seconds ?? 0)]
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

        /// The inode of the original, by the inode of its clone.
        var originals: [UInt64: UInt64] {
            Dictionary((clones ?? []).map { ($0.inode, $0.original) }, uniquingKeysWith: { $1 })
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
        /// Snapshots were pruned, and the record leads to one before them.
        var isJoined: Bool { list != nil || actions != nil }
        var listName: FileName { list.flatMap { FileName($0.utf8) } ?? ListDocument.name }
        var holders: [FileName] { (holds ?? []).compactMap { FileName($0.utf8) } }
    }

    static let headerName = FileName("header.json")
}

extension HistoryRecord.Header {
    /// - Parameter previous: the snapshot that the run found.
    init(id: String, created: Timestamp, previous: Snapshot?, manifest: ManifestHeader?, plan: Plan) {
        let difference = plan.difference
        var stored = StoredBytes(hasOldTrees: difference.policy.hasOldTrees)
        for file in difference.deleted where !file.path.isInState { stored.add(file.status) }
        for match in difference.replacing where !match.target.path.isInState {
            stored.add(match.target.status)
        }
        let summary = plan.summary
        self.init(
            id: id, created: created.description, utcOffset: LocalZone.offset(at: created.rawSeconds),
            previous: previous?.id, previousCreated: previous?.created?.description,
            previousUtcOffset: previous?.utcOffset, previousLabel: previous?.label,
            previousFilters: manifest?.filters.lines, previousWithout: manifest?.attributes.missingNames,
            previousSources: manifest?.sources.nonEmpty?.map(Source.init),
            create: summary.create, update: summary.update, attributes: summary.attributes,
            move: summary.move, delete: summary.delete,
            bytesHeld: stored.total, isMeasured: true, copied: summary.bytesToCopy,
            seconds: max(0, Timestamp.now.fileTime.seconds(since: created.fileTime)))
    }

    /// The header of a record that leads, past pruned snapshots, to the snapshot that an older record found.
    ///
    /// - Parameter holders: transactions with objects that the record needs.
    func joined(to oldest: Self, holding holders: some Sequence<FileName>) -> Self {
        var header = self
        (header.previous, header.previousLabel) = (oldest.previous, oldest.previousLabel)
        (header.previousCreated, header.previousUtcOffset) = (
            oldest.previousCreated, oldest.previousUtcOffset
        )
        (header.previousFilters, header.previousWithout, header.previousSources) = (
            oldest.previousFilters, oldest.previousWithout, oldest.previousSources
        )
        header.list = "list-\(RandomID.hexadecimal(bytes: 8)).json"
        header.holds = Set(holders).map(\.description).filter { $0 != id }.sorted()
        (header.isUnswept, header.isMeasured) = (true, nil)
        return header
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
