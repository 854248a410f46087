import FileStorage
import FileSystem
import Foundation
import FsyncLite
import TestSupport

/// The log of a stage, and the documents that use `Codable`.
extension DocumentKind {
    private struct StageLogContent: Equatable {
        var header: StageLogHeader?
        var files: [StagedFile] = []
    }

    static let stageLog = DocumentKind(
        name: "stage-log", place: ".fsync-lite/stage/\(Desk.transaction)/log",
        make: { random in
            let attributes = MirroredAttributes(rawValue: UInt8(random.number(0...31)))
            return text(
                StageLogContent(
                    header: StageLogHeader(transaction: Desk.transaction, attributes: attributes),
                    files: (0..<random.pick([0, 1, 3, 10])).map { _ in stagedFile(&random) }))
        },
        value: { desk in
            var content = StageLogContent()
            try StageLog.read(
                in: desk.state.directory.directory(FileName("stage"))
                    .directory(FileName(Desk.transaction.utf8)!),
                if: {
                    content.header = $0
                    return true
                }, { content.files.append($0) })
            return content
        },
        check: { content in
            for file in content.files {
                try PathRules.requireInside(file.path.bytes, "a path outside:")
                try PathRules.requireInside(file.location.bytes, "a place outside:")
                try require(file.size >= 0, "a size")
                for time in [file.created, file.changed, file.modified].compactMap({ $0 }) {
                    try require((0..<1_000_000_000).contains(time.nanoseconds), "nanoseconds")
                }
            }
        },
        text: { text($0) })

    private static func text(_ content: StageLogContent) -> [UInt8] {
        let lines = [content.header?.line].compactMap(\.self) + content.files.map(\.line)
        return Array(lines.map { "\($0)\n" }.joined().utf8)
    }

    private static func stagedFile(_ random: inout SplitMix64) -> StagedFile {
        StagedFile(
            path: RelativePath(random.name() + [UInt8(ascii: "/")] + random.name())!,
            location: RelativePath("0/\(random.number(0...9999))")!, source: random.status(.file),
            stagedInode: random.inode(), isPart: random.oneIn(4))
    }

    static let historyHeader = DocumentKind(
        name: "history-header", place: ".fsync-lite/history/\(Desk.transaction)/header.json",
        make: { random in
            let previous =
                random.oneIn(3) ? "" : "\"previous\" : \"20261120T090000.000000Z-0000\",\n  "
            return Array(
                """
                {
                  "attributes" : \(random.number(0...9)),
                  "bytes_held" : \(random.next() % 1_000_000_000),
                  "create" : \(random.number(0...9)),
                  "created" : "\(Timestamp(random.time()))",
                  "delete" : \(random.number(0...9)),
                  "format" : "fsync-lite-history",
                  "id" : "\(Desk.transaction)",
                  "move" : \(random.number(0...9)),
                  \(random.oneIn(3) ? "\"holds\" : [\"\(Desk.transaction)\"],\n  \"label\" : \"l\"," : "")
                  \(random.oneIn(3) ? "\"actions\" : \"actions-1.json\", \"is_unswept\" : true," : "")
                  \(previous)"update" : \(random.number(0...9)),
                  "version" : 1
                }

                """.utf8)
        },
        value: { desk in
            let name = FileName(Desk.transaction.utf8)!
            let history = try desk.state.directory.directory(FileName("history"))
            return try HistoryRecord.Header.read(name, from: history.directory(name))
        },
        check: { content in
            try require(content.format == "fsync-lite-history" && content.version == 1, "another format")
            try require(content.id == Desk.transaction, "another transaction's")
            try require(content.created.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }, "no time")
            for number in [
                content.create, content.update, content.attributes, content.move, content.delete,
                Int(content.bytesHeld.rawCount),
            ] {
                try require(number >= 0, "a number below zero")
            }
        }, text: { Array(try JSONDocument.encode($0)) })

    static let settings = DocumentKind(
        name: "settings", place: ".fsync-lite/settings.json",
        make: { random in
            let number = random.oneIn(4) ? Int.max : random.number(0...100)
            return Array(
                random.pick([
                    "{}", "{\"keep_last\":\(number)}", "{\"keep_within\":\"3d\",\"keep_label\":[\"a\"]}",
                    "{\n  \"keep_last\" : \(number)\n}\n",
                    "{\"keep_last\":\(number),\r\n\t\"defaults\":\(options(&random))}",
                ]).utf8)
        },
        value: { desk in try desk.state.settings() },
        check: { try require(($0.rules.keepLast ?? 0) >= 0, "fewer than none") },
        text: { Array(try JSONDocument.encode($0)) })

    static let userSettings = DocumentKind(
        name: "user-settings", place: userSettingsPlace,
        make: { random in
            let jobs = (0..<random.number(0...3)).map {
                "\"job \($0)\" : \(options(&random).dropLast()), \"source\":\"/s\", \"target\":\"/t\"}"
            }
            return Array(
                "{\"defaults\": \(options(&random)),\n\"jobs\": {\n\(jobs.joined(separator: ",\n"))\n}}".utf8)
        },
        value: { desk in
            try SettingsFile<UserSettings>(reading: LocalFile("\(desk.path)/\(userSettingsPlace)")).content
        },
        check: { _ in }, text: { Array(try JSONDocument.encode($0)) })

    private static let userSettingsPlace = ".fsync-lite/user-settings.json"

    /// At least one option, in the form of settings.
    private static func options(_ random: inout SplitMix64) -> String {
        let all = [
            "\"quiet\": true", "\"max_delete\": \(random.number(0...99))", "\"max_size\":\"10M\"",
            "\"exclude\" : [\"*.tmp\", \"\\u00e9\\\"\\\\\"]", "\"exclude_caches\":false", "\"include\":[]",
        ]
        return "{" + all.prefix(random.number(1...all.count)).joined(separator: ",\n ") + "}"
    }
}
