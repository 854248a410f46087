import FileSystem
import FsyncLite
import TestSupport

extension DocumentKind {
    static let list = DocumentKind(
        name: "list", place: ".fsync-lite/history/\(Desk.transaction)/list.json", isSealed: true,
        make: { random in
            let header = ManifestHeader(id: "initial", root: random.name(), created: Timestamp(random.time()))
            return try text(
                Content(
                    header: header, step: lines(&random), hand: lines(&random), stored: stored(&random)))
        },
        value: { desk in
            let history = try desk.state.directory.directory(FileName("history"))
            let directory = try history.directory(FileName(Desk.transaction.utf8)!)
            let name = FileName("list.json")
            let list = try ListDocument(directory.open(name, [.read]), path: directory.path(of: name))
            return Content(
                header: list.header, step: Array(list.step.lines.values), hand: Array(list.hand.lines.values),
                stored: Array(list.stored))
        },
        check: { content in
            for line in content.step + content.hand {
                try PathRules.requireInside(line.path.bytes, "a path outside:")
                if let below = line.below { try PathRules.requireInside(below.bytes, "a path outside:") }
                try require(line.entry.map { $0.object > 0 } ?? true, "no number")
            }
            for case .slot(let slot) in content.stored.map(\.place) {
                try PathRules.requireInside(slot.bytes, "a slot outside:")
            }
            // With any content, following them ends.
            let (step, hand) = (ListLayer(content.step), ListLayer(content.hand))
            let joined = hand.joined(to: step).joined(to: hand)
            for line in content.step { _ = joined.resolve(line.path) }
            var places = Places()
            places.add(content.stored, of: FileName("transaction"))
            for line in content.stored { _ = places.place(of: line.object, present: { _ in nil }) }
        }, text: { try text($0) })

    private struct Content: Equatable {
        var header: ManifestHeader
        var step: [ListLine]
        var hand: [ListLine]
        var stored: [StoredObject]
    }

    private static func text(_ content: Content) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let list = ListDocument(
            content.header, step: ListLayer(content.step), hand: ListLayer(content.hand),
            stored: content.stored)
        try list.write(to: &bytes)
        return bytes
    }

    private static func lines(_ random: inout SplitMix64) -> [ListLine] {
        var seen: Set<RelativePath> = []
        return (0..<random.pick([0, 1, 2, 5, 9])).map { _ in line(&random) }
            .filter { seen.insert($0.path).inserted }.sorted { $0.path < $1.path }
    }

    private static func line(_ random: inout SplitMix64) -> ListLine {
        let path = RelativePath(random.name() + [UInt8(ascii: "/")] + random.name())!
        guard !random.oneIn(4) else { return ListLine(absent: path) }
        let file = random.file(path, random.pick([.file, .directory, .symlink]))
        return ListLine(
            ListEntry(file, isUncovered: random.oneIn(4)),
            below: random.oneIn(2) ? RelativePath(random.name()) : nil)
    }

    private static func stored(_ random: inout SplitMix64) -> [StoredObject] {
        (1...UInt64(random.pick([1, 2, 9]))).map { object in
            guard random.oneIn(3), let name = FileName(random.name()) else {
                return StoredObject(object, .slot(RelativePath("0/\(random.number(0...9999))")!))
            }
            return StoredObject(object, .inside(1 + random.next() % 9, name))
        }
    }
}
