import FsyncLite

enum SnapshotPurgeCommand: TargetCommand {
    static let description = CommandDescription(
        name: "snapshot purge", summary: "Remove the content of a file from all snapshots.",
        discussion: """
            All versions whose path matches in any snapshot are removed, with their content, under all their names. \
            The snapshots list the file as purged; undo and restore leave its path unchanged. Matching files that a \
            recovery moved aside are removed, too, and a prepared run is abandoned. Files of the present tree are not \
            removed but listed (exit code 3): delete them in the source, run, and purge again.
            The freed blocks are not overwritten. If a secret must not be on the disk, change the secret, or encrypt \
            the disk. Exits 2 if nothing matches. \(EntrySelection.discussion)
            """,
        arguments: [.target, EntrySelection.neededPattern],
        options: [.dryRun] + EntrySelection.options + .section("Output", .json, .quiet)
            + OptionDescription.remote,
        examples: [("fsync-lite snapshot purge mirror /etc/secret.key", "Remove a secret from the history")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let given = invocation.options
        let target = try invocation.target()
        if let pattern = invocation.values(EntrySelection.neededPattern).first(where: {
            $0.first == UInt8(ascii: "!")
        }) {
            throw UsageError(
                "\(quoted(pattern)) would purge all other files",
                hint: "name the files to purge. For a file whose name begins with !, write \\ before it")
        }
        let isDryRun = given.has(.dryRun)
        let purged = try target.purge(EntrySelection(invocation), isDryRun: isDryRun)
        if given.has(.json) {
            try write(purged, target, to: &console)
        } else if !given.has(.quiet) {
            for version in purged.versions { try console.line(line(version)) }
            for path in purged.setAside { try console.line("- \(path)  set aside") }
            let count = purged.versions.count + purged.setAside.count
            if count > 0 {
                let verb = isDryRun ? "would purge" : "purged"
                try console.line("\(verb) \(Amount.of(count, "version")), \(Amount.bytes(purged.bytes))")
            }
        }
        if let prepared = purged.prepared {
            Console.complain(
                "the prepared run \(prepared) \(isDryRun ? "would be" : "is") abandoned, because it may have the content"
            )
        }
        guard !purged.isEmpty else {
            Console.complain("no snapshot has a file that matches; nothing is purged")
            return .different
        }
        for path in purged.present { Console.complain("\(path): not removed, as the present tree has it") }
        if !purged.present.isEmpty {
            Console.complain("next: to remove it, too: delete it in the source, apply, and purge again")
        }
        for path in purged.elsewhere {
            Console.complain("\(path): its content has another name outside of the target, and is left there")
        }
        return purged.present.isEmpty && purged.elsewhere.isEmpty ? .done : .committedWithOmissions
    }

    /// Such as `- keys/secret.pem  1.7 kB  in 3f2a9c01, 8b1c22d0`.
    private static func line(_ version: Purged.Version) -> String {
        let size = version.file.isFile ? "  \(Amount.bytes(version.file.size))" : ""
        let others = version.names.subtracting([version.file.path]).sorted()
        let also = others.isEmpty ? "" : ", also \(Amount.list(others.map(\.description), of: others.count))"
        return "- \(version.file.path)\(size)  in \(SnapshotText.names(version.snapshots))\(also)"
    }

    private static func write(_ purged: Purged, _ target: Target, to console: inout Console) throws {
        var document = DocumentWriter(format: "fsync-lite-purged")
        document.text.field("target", "target_base64", target.path[...])
        document.text.field("bytes_freed", purged.bytes)
        if let prepared = purged.prepared { document.text.field("prepared", prepared) }
        try document.array("purged", of: purged.versions, to: &console) { text, version in
            text.fields(of: version.file)
            text.field("snapshots", version.snapshots.map(\.id))
            text.field("names", version.names.sorted().map(\.description))
        }
        try document.array("set_aside", of: purged.setAside, to: &console) { $0.path($1) }
        try document.array("present", of: purged.present, to: &console) { $0.path($1) }
        try document.array("elsewhere", of: purged.elsewhere, to: &console) { $0.path($1) }
        try document.end(to: &console)
    }
}
