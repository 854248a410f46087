import FileStorage
import FileSystem
import FsyncLite

enum ManifestVerifyCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let tree = try invocation.argument("TREE")
        for path in [tree] + invocation.values("--source") where try !LocalFile(bytes: path).isDirectory {
            throw SyncError(.inputMissing, path: path, "there is no such directory")
        }
        TerminationSignal.watch()
        var verification = Verification(
            of: tree, by: try Tree(path: try invocation.argument("MANIFEST")),
            monitor: RunMonitor(isQuiet: true))
        verification.source = invocation.value("--source")
        verification.readsContent = invocation.has("--digest") || verification.source != nil
        let repairs = invocation.has("--repair")
        if repairs, verification.source == nil {
            throw UsageError(
                "--repair needs another copy", hint: "give the mirror's source with --source DIR")
        }
        if let part = try invocation.value("--part", "give --part such as 3/30", Verification.Part.init) {
            guard verification.readsContent else {
                throw UsageError("nothing is read in parts", hint: "add --digest or --source to --part")
            }
            verification.part = part
        }
        var output = VerificationOutput(isJSON: invocation.has("--json"), tree)
        var repairable: [Discrepancy] = []
        let summary = try verification.run { found in
            if repairs, found.isRepairable {
                repairable.append(found)
            } else {
                try output.write(found, to: &console)
            }
        }
        for found in try verification.repair(repairable) { try output.write(found, to: &console) }
        try output.end(summary, to: &console)
        if summary.withoutDigest > 0 {
            Console.complain(
                "note: \(summary.withoutDigest) files have no digest and were not read; apply --digest records them"
            )
        }
        if summary.unlisted > 0 {
            Console.complain(
                "note: \(summary.unlisted) entries are not in the manifest, which was made under filters")
        }
        return output.remaining > 0 ? .different : .done
    }
}

/// What `manifest verify` prints: one line per discrepancy, as text or in one JSON document.
private struct VerificationOutput {
    private(set) var found = 0
    /// Of them, those that are not repaired.
    private(set) var remaining = 0
    private var document: DocumentWriter?

    init(isJSON: Bool, _ tree: [UInt8]) {
        guard isJSON else { return }
        var document = DocumentWriter(format: "fsync-lite-verification")
        document.text.field("tree", "tree_base64", tree[...])
        document.beginArray("discrepancies")
        self.document = document
    }

    mutating func write(_ discrepancy: Discrepancy, to console: inout Console) throws {
        found += 1
        if !discrepancy.isRepaired { remaining += 1 }
        guard document != nil else { return try console.line(VerificationOutput.line(discrepancy)) }
        document?.beginElement()
        document?.text.discrepancy(discrepancy)
        document?.endElement()
        try document?.drain(to: &console)
    }

    /// Such as `rotten a.jpg  in the source; the tree's copy is good, repaired`.
    private static func line(_ found: Discrepancy) -> String {
        var notes = found.causes.names
        if found.kind == .rotten || found.kind == .unreadable {
            let (own, other) = found.side == .source ? ("the source", "the tree") : ("the tree", "the source")
            notes.append(found.side == .both ? "in the tree and in the source" : "in \(own)")
            if found.isRepaired || found.isRepairable { notes.append("\(other) has the recorded content") }
        }
        if found.isRepaired { notes.append("repaired") }
        if let message = found.message { notes.append(message) }
        return "\(found.kind.rawValue) \(found.path)"
            + (notes.isEmpty ? "" : "  (\(notes.joined(separator: ", ")))")
    }

    mutating func end(_ summary: Verification.Summary, to console: inout Console) throws {
        guard document != nil else {
            let repaired = found > remaining ? "\(found - remaining) repaired, " : ""
            let read = "\(summary.filesRead) files read (\(ActionText.byteCount(summary.bytesRead)))"
            return try console.line(
                "\(repaired)\(remaining) differ; \(summary.entries) entries looked at, \(read)")
        }
        document?.endArray()
        document?.beginTrailer()
        document?.text.key("summary")
        document?.text.beginObject()
        for (key, count) in [
            ("entries", summary.entries), ("discrepancies", found), ("repaired", found - remaining),
            ("files_read", summary.filesRead), ("files_without_digest", summary.withoutDigest),
            ("unlisted", summary.unlisted),
        ] as [(StaticString, Int)] {
            document?.text.field(key, count)
        }
        document?.text.field("bytes_read", summary.bytesRead)
        document?.text.endObject()
        try document?.end(to: &console)
    }
}
