import FileSystem

/// What an apply displaced and how to take it back: two documents in `history/TX`, committed with the tree.
///
/// `header.json` has the totals. `actions.json` has the inverse actions, in the words of a plan: `create` for
/// what the apply deleted and `update` for what it replaced, each with the entry as it was and the slot that
/// holds it (an entry without one lies inside the slot of a directory above it); `attributes` with the entry
/// as it was; `move` back; and `delete` for what it created.
package struct HistoryRecord: Sendable {
    package struct Header: Codable, Hashable, Sendable {
        package var format = formatName
        package var version = 1
        package var id: String
        /// ISO 8601.
        package var created: String
        /// The manifest that described the tree before.
        package var previous: String?
        package var create: Int
        package var update: Int
        package var attributes: Int
        package var move: Int
        package var delete: Int
        /// Bytes of content that were displaced and are kept.
        package var bytesHeld: Int64

        package static let formatName = "fsync-lite-history"

        /// Reads the header of a transaction from its directory in the history.
        package static func read(_ transaction: FileName, from directory: Directory) throws -> Header {
            // In bytes: far more than a header needs.
            let header: Header = try JSONDocument.read(headerName, in: directory, limit: 1 << 16)
            guard let fault = header.fault(of: transaction) else { return header }
            throw SyncError(.invalidDocument, path: directory.path(of: headerName), fault)
        }

        /// What does not fit; nil when all does.
        private func fault(of transaction: FileName) -> String? {
            if format != Header.formatName { return "this is no \(Header.formatName) document" }
            if version != 1 { return "version \(version) is not one that this fsync-lite reads (1)" }
            if !id.utf8.elementsEqual(transaction.bytes) { return "the id is another transaction's" }
            if Timestamp(iso8601: Array(created.utf8)[...]) == nil { return "created: this is no time" }
            let numbers = [create, update, attributes, move, delete]
            return numbers.allSatisfy { $0 >= 0 } && bytesHeld >= 0 ? nil : "a number below zero"
        }
    }

    static let headerName = FileName("header.json")
    static let actionsName = FileName("actions.json")

    package let header: Header
    private let difference: Difference
    private let slots: [RelativePath: String]
    private let root: Pair?

    package init(
        id: String, created: Timestamp, previous: String?, difference: Difference, root: Pair?,
        layout: Layout,
        summary: ActionSummary
    ) {
        let displaced =
            difference.deleted.map(\.file) + difference.pairs.filter(\.replacesContent).map(\.target)
        header = Header(
            id: id, created: created.description, previous: previous, create: summary.create,
            update: summary.update, attributes: summary.attributes, move: summary.move,
            delete: summary.delete,
            bytesHeld: displaced.reduce(0) { $0 &+ ($1.isFile ? $1.size : 0) })
        self.difference = difference
        self.root = root
        slots = Dictionary(
            uniqueKeysWithValues: layout.displaced.compactMap { path, object in
                guard let slot = layout.objects[object].slot,
                    let directory = layout.objects[slot.parent].old
                else { return nil }
                return (path, "\(directory.name)/\(slot.name)")
            })
    }

    private struct Inverse {
        var verb: Action.Verb
        var old: File
        /// Where it stands now.
        var from: RelativePath?
        var slot: String?
    }

    private func inverses() -> [Inverse] {
        let moves = MoveMap(difference)
        var found: [Inverse] = []
        if let root, root.changesAttributes { found.append(Inverse(verb: .attributes, old: root.target)) }
        for pair in difference.pairs {
            let from = pair.isRenamed ? pair.source.path : nil
            if pair.replacesContent {
                found.append(
                    Inverse(verb: .update, old: pair.target, from: from, slot: slots[pair.target.path]))
                continue
            }
            if from != nil, !moves.isCarried(pair) {
                found.append(Inverse(verb: .move, old: pair.target, from: from))
            }
            if pair.changesAttributes {
                found.append(Inverse(verb: .attributes, old: pair.target, from: from))
            }
        }
        found += difference.deleted.map { Inverse(verb: .create, old: $0.file, slot: slots[$0.file.path]) }
        found += difference.created.map { Inverse(verb: .delete, old: $0.file) }
        return found
    }

    /// Writes both documents into the transaction's directory.
    package func write(to directory: Directory) throws {
        try CodableStorage(DiskStorage(directory)).store(header, for: HistoryRecord.headerName.description)
        var file = try PendingFile(HistoryRecord.actionsName, in: directory)
        var document = DocumentWriter(format: "fsync-lite-history-actions")
        document.text.field("id", header.id)
        document.beginArray("actions")
        for inverse in inverses() {
            document.beginElement()
            document.text.field("action", inverse.verb.rawValue)
            if let from = inverse.from { document.text.field("from", "from_base64", from.bytes[...]) }
            if let slot = inverse.slot { document.text.field("slot", slot) }
            document.text.fields(of: inverse.old)
            document.endElement()
            try document.drain(to: &file)
        }
        document.endArray()
        document.beginTrailer()
        document.end(withChecksum: true)
        try document.drain(to: &file, all: true)
        try file.commit(durably: false)
    }
}
