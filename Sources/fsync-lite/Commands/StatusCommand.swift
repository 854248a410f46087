import FsyncLite

enum StatusCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let limit = try invocation.value(
            "--max-age", "give a number of s, m, h, d or w, such as 26h", { Age($0) })
        let target = Target(path: try invocation.argument("TARGET"))
        let status = try target.status()
        if invocation.has("--json") {
            try console.write(StatusDocument(target, status).bytes)
        } else {
            try write(status, to: &console)
        }
        if status.isPending {
            Console.complain(
                "a commit was begun and not ended; run: fsync-lite recover \(Shell.word(target.path))"
            )
        }
        if status.isPending { return .pending }
        guard let limit else { return .done }
        guard let last = status.lastRun else {
            Console.complain("no run has ended well here yet")
            return .different
        }
        let age = Age(since: last)
        guard age > limit else { return .done }
        Console.complain("the last good run began \(age) ago, at \(last)")
        return .different
    }

    private static func write(_ status: Target.Status, to console: inout Console) throws {
        if let (header, summary) = status.manifest {
            try console.line("manifest   \(escapedText(header.id.utf8)), of \(header.created)")
            if let source = header.source { try console.line("source     \(LocalFile(bytes: source.path))") }
            try console.line(
                "holds      \(summary.files) files, \(summary.directories) directories, \(summary.symlinks) symlinks, "
                    + "\(summary.others) others; \(ActionText.byteCount(summary.bytes))")
        } else if !status.isPending {
            try console.line("manifest   none: nothing was applied yet")
        }
        if let lastRun = status.lastRun { try console.line("last run   \(lastRun)") }
        for applied in status.history {
            try console.line("kept       \(applied.id), \(ActionText.byteCount(applied.bytesHeld)) displaced")
        }
    }
}

/// `status --json`.
struct StatusDocument {
    let bytes: [UInt8]

    init(_ target: Target, _ status: Target.Status) {
        var text = JSONText()
        text.beginObject()
        text.field("format", "fsync-lite-status")
        text.field("version", 1)
        text.field("target", "target_base64", target.path[...])
        text.field("state", status.isPending ? "pending" : status.manifest == nil ? "empty" : "committed")
        if let (header, summary) = status.manifest {
            text.field("manifest", header.id)
            text.field("created", header.created)
            if let source = header.source { text.field("source", "source_base64", source.path[...]) }
            text.key("summary")
            text.summary(summary)
        }
        if let lastRun = status.lastRun { text.field("last_run", lastRun) }
        text.key("history")
        text.beginArray()
        for applied in status.history {
            text.beginObject()
            text.field("id", applied.id)
            text.field("created", applied.created)
            text.field("bytes_held", applied.bytesHeld)
            text.endObject()
        }
        text.endArray()
        text.endObject()
        bytes = text.bytes + [UInt8(ascii: "\n")]
    }
}
