import FileSystem
import FsyncLite
import TestSupport

extension DocumentKind {
    static let historyActions = DocumentKind(
        name: "history-actions", place: ".fsync-lite/history/\(Desk.transaction)/actions.json",
        isSealed: true,
        make: { random in
            func some() -> [UndoEntry] {
                var seen: Set<[UInt8]> = []
                return (0..<random.pick([0, 1, 2, 5, 9])).map { _ in action(&random) }
                    .filter { seen.insert($0.verb.rawValue.utf8 + $0.file.path.bytes).inserted }
            }
            return text(Content(actions: some(), drift: some()))
        },
        value: { desk in
            let name = FileName(Desk.transaction.utf8)!
            let history = try desk.state.directory.directory(FileName("history"))
            let (actions, drift) = try HistoryRecord.actions(
                FileName("actions.json"), of: name, in: history.directory(name))
            return Content(actions: Array(actions), drift: Array(drift))
        },
        check: { content in
            for action in content.actions + content.drift {
                if action.verb != .attributes || !action.file.path.isRoot {
                    try Paths.requireInside(action.file.path.bytes, "a path outside:")
                }
                if let from = action.from { try Paths.requireInside(from.bytes, "a place outside:") }
                if let slot = action.slot { try Paths.requireInside(slot.bytes, "a slot outside:") }
                try require(action.slot == nil || action.verb == .create || action.verb == .update, "a slot")
            }
            // Whatever they say, following them ends.
            let changes = ReverseDelta(content.actions)
            let twice = changes.followed(by: ReverseDelta(content.drift)).followed(by: changes)
            for path in changes.entries.keys { _ = (twice.location(of: path), twice.pathBefore(of: path)) }
        }, text: { text($0) })

    private struct Content: Equatable {
        var actions: [UndoEntry]
        var drift: [UndoEntry]
    }

    private static func text(_ content: Content) -> [UInt8] {
        var bytes: [UInt8] = []
        // Bytes take whatever is written.
        try! HistoryRecord.write(content.actions, drift: content.drift, id: Desk.transaction, to: &bytes)
        return bytes
    }

    private static func action(_ random: inout SplitMix64) -> UndoEntry {
        var status = FileStatus(
            type: random.pick([.file, .directory, .symlink] as [FileType]), modified: random.time())
        status.permissions = random.permissions()
        status.inode = random.inode()
        status.changed = random.time()
        if status.type == .file { status.size = ByteCount(clamping: random.next() % 1_000_000) }
        let destination = status.type == .symlink ? random.name() : []
        if status.type == .symlink { status.size = ByteCount(clamping: destination.count) }
        let verb = random.pick(UndoEntry.Verb.allCases)
        let name = RelativePath(random.name() + [UInt8(ascii: "/")] + random.name())!
        let isRoot = verb == .attributes && random.oneIn(5)
        var file = File(path: isRoot ? .root : name, status: status, destination: destination)
        if random.oneIn(4) { file.extended = random.extended() }
        let mayMove = verb == .move || (random.oneIn(2) && (verb == .update || verb == .attributes))
        let mayHold = (verb == .create || verb == .update) && random.oneIn(2)
        var entry = UndoEntry(
            verb, file, from: mayMove ? RelativePath(random.name()) : nil,
            slot: mayHold ? RelativePath("\(Desk.transaction)/0/\(random.number(0...9999))") : nil,
            causes: random.oneIn(2) ? [.size, .drift] : [],
            wasUncovered: verb != .delete && verb != .uncover && random.oneIn(4))
        entry.isAssumed = verb != .delete && verb != .uncover && random.oneIn(2)
        return entry
    }
}
