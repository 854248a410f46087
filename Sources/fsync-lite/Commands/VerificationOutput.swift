import FileSystem
import FsyncLite

/// The output of a verification: one line per discrepancy, as text or in one JSON document.
struct VerificationOutput {
    private(set) var found = 0
    /// The discrepancies that are not repaired.
    private(set) var remaining = 0
    /// The rotten files among them.
    private(set) var rotten = 0
    private var document: DocumentWriter?
    private let isQuiet: Bool

    init(_ tree: [UInt8], _ given: GivenOptions) {
        isQuiet = given.has(.quiet)
        guard given.has(.json) else { return }
        var document = DocumentWriter(format: "fsync-lite-verification")
        document.text.field("tree", "tree_base64", tree[...])
        document.beginArray("discrepancies")
        self.document = document
    }

    /// Verifies the tree, and repairs files that have a good copy.
    mutating func run(
        _ verification: Verification, repairs: Bool, _ console: inout Console
    ) throws -> Verification.Summary {
        var repairable: [Discrepancy] = []
        let summary = try verification.run { found in
            guard repairs else { return try write(found, to: &console) }
            if found.isRepairable || found.kind == .edited { return repairable.append(found) }
            var found = found
            if found.kind == .rotten, found.message == nil {
                found.message = "not repaired: the other copy changed, too"
            }
            try write(found, to: &console)
        }
        for found in try verification.repair(repairable) { try write(found, to: &console) }
        return summary
    }

    private mutating func write(_ discrepancy: Discrepancy, to console: inout Console) throws {
        found += 1
        if !discrepancy.isRepaired {
            remaining += 1
            if discrepancy.kind == .rotten { rotten += 1 }
        }
        guard document != nil else { return try console.line(VerificationOutput.line(discrepancy)) }
        document?.beginElement()
        document?.text.discrepancy(discrepancy)
        document?.endElement()
        try document?.drain(to: &console)
    }

    /// Such as `rotten a.jpg  in the source; the tree's copy is good, repaired`.
    private static func line(_ found: Discrepancy) -> String {
        var notes = found.causes.names
        if [.rotten, .edited, .unreadable].contains(found.kind) {
            let (own, other) = found.side == .source ? ("the source", "the tree") : ("the tree", "the source")
            notes.append(found.side == .both ? "in the tree and in the source" : "in \(own)")
            if found.isRepaired || found.isRepairable { notes.append("\(other) has the recorded content") }
        }
        if found.isRepaired { notes.append("repaired") }
        if let message = found.message { notes.append(message) }
        return "\(found.kind.rawValue) \(found.path)"
            + (notes.isEmpty ? "" : "  (\(notes.joined(separator: ", ")))")
    }

    /// - Parameter history: the result for the history; nil if it was not checked.
    mutating func end(
        _ summary: Verification.Summary, of part: Verification.Part, _ history: Target.HistoryCheck? = nil,
        to console: inout Console
    ) throws {
        try document == nil
            ? writeText(summary, part, to: &console) : writeDocument(summary, part, history, to: &console)
        // If no file at all was read, that is no check.
        if summary.withoutDigest > 0, !isQuiet || summary.filesRead == 0 {
            Console.complain(
                "note: \(Amount.of(summary.withoutDigest, "file has", "files have")) no digest and \(summary.withoutDigest == 1 ? "was" : "were") not read; "
                    + "apply --digest records them"
            )
        }
        if summary.unlisted > 0, !isQuiet {
            Console.complain(
                "note: the manifest was made with filters, and lacks \(Amount.entries(summary.unlisted)) of the tree"
            )
        }
    }

    private func writeText(
        _ summary: Verification.Summary, _ part: Verification.Part, to console: inout Console
    ) throws {
        guard !isQuiet || found > 0 else { return }
        let repaired = found > remaining ? "\(found - remaining) repaired, " : ""
        let read = "\(Amount.of(summary.filesRead, "file")) read (\(Amount.bytes(summary.bytesRead)))"
        try console.line(
            "\(repaired)\(Amount.of(remaining, "differs", "differ")); \(Amount.entries(summary.entries)) checked, \(read)\(part.text.map { ", \($0)" } ?? "")"
        )
    }

    private mutating func writeDocument(
        _ summary: Verification.Summary, _ part: Verification.Part, _ history: Target.HistoryCheck?,
        to console: inout Console
    ) throws {
        document?.endArray()
        if let history {
            try document?.array("damaged_snapshots", of: history.faults, to: &console) { text, fault in
                text.field("snapshot", fault.snapshot)
                text.field("message", fault.error.description)
            }
        }
        document?.beginTrailer()
        let counts: [(StaticString, Int)] = [
            ("entries", summary.entries), ("discrepancies", found), ("repaired", found - remaining),
            ("files_read", summary.filesRead), ("files_without_digest", summary.withoutDigest),
            ("unlisted", summary.unlisted), ("part", part.number), ("parts", part.count),
        ]
        document?.text.object("summary") { text in
            for (key, count) in counts { text.field(key, count) }
            text.field("bytes_read", summary.bytesRead)
            if let history { text.field("snapshots", history.count) }
        }
        try document?.end(to: &console)
    }
}
