import FileStorage
import FileSystem
import Foundation
import FsyncLite
import TestNeeds
import TestSupport
import Testing

/// Numbers at the ends of their ranges. A user of a source, or an edit of a state, can make them.
@Suite("Numbers at the ends of their ranges")
struct ExtremeNumberTests {
    /// A target whose history has three files of 8 EiB.
    private func scene(_ count: Int = 3) throws -> MirrorScene {
        let scene = try MirrorScene(["kept": "1"], inMemory: true)
        let names = (0..<count).map { "source/\($0)" }
        for name in names {
            try Data().write(to: URL(fileURLWithPath: scene.path(name)))
            #expect(truncate(scene.path(name), .max) == 0)
        }
        try scene.apply().expect(0)
        for name in names { try scene.remove(name) }
        try scene.apply("--max-delete", "unlimited").expect(0)
        return scene
    }

    @Test(.needs(.otherFileSystem), arguments: [2, 3])
    func sparseFilesLeaveHistoryAndStatusInOrder(count: Int) throws {
        let scene = try scene(count)
        let status = try scene.run("status", "--json", "target").expect(0)
        #expect(try status.json().number("history_bytes_held") == .max)
        let list = try scene.run("snapshot", "list", "--json", "target").expect(0)
        #expect(try list.json().number("bytes_held") == .max)
        for command in [
            ["status", "target"], ["status", "--prometheus", "target"], ["snapshot", "list", "target"],
            ["snapshot", "verify", "target"], ["snapshot", "find", "target", "0"],
            ["plan", "source", "target"], ["undo", "target", "--dry-run"], ["undo", "target"],
            ["status", "target"], ["manifest", "show", "target"], ["undo", "target"],
            ["snapshot", "prune", "target", "--keep-last", "0"], ["status", "target"],
        ] {
            try scene.run(command).expect(0)
        }
        #expect(try scene.run("status", "--json", "target").json().number("history_bytes_held") == 0)
        #expect(try scene.text("target/kept") == "1")
    }

    /// Its data is in the block before the last possible one. In the last one, tmpfs reports a hole.
    @Test(.needs(.otherFileSystem), arguments: [false, true]) func lastByteOfALongFileIsMirrored(
        isFar: Bool
    ) throws {
        let scene = try MirrorScene(["kept": "1"], inMemory: true)
        if isFar { scene.far = try FarMachine(has: .source) }
        let end = Int.max - 4096
        let file = open(scene.path("source/long"), O_RDWR | O_CREAT, 0o600)
        defer { close(file) }
        try #require(pwrite(file, "x", 1, end - 1) == 1)
        try scene.apply().expect(0)
        let copy = open(scene.path("target/long"), O_RDONLY)
        defer { close(copy) }
        var byte: UInt8 = 0
        #expect(lseek(copy, 0, SEEK_END) == end && pread(copy, &byte, 1, end - 1) == 1)
        #expect(byte == UInt8(ascii: "x"))
    }

    /// Versions whose sums overflowed wrote a negative number.
    @Test func historyWithAWrappedSumIsReadAndUndone() throws {
        let scene = try MirrorScene(["a": "1", "b": "2"], inMemory: true).mirrored()
        try scene.remove("source/a")
        try scene.mirror("--max-delete", "unlimited")
        let header = try scene.documents(named: "header.json")[0]
        let text = try scene.text(header)
        let wrapped = text.replacing(/"bytes_held" : 1/, with: "\"bytes_held\" : -2")
        #expect(wrapped != text)
        try Data(wrapped.utf8).write(to: URL(fileURLWithPath: scene.path(header)))
        for command in [
            ["status", "target"], ["snapshot", "list", "target"], ["snapshot", "verify", "target"],
            ["undo", "target"],
        ] {
            try scene.run(command).expect(0)
        }
        #expect(try scene.text("target/a") == "1")
    }

    @Test(.needs(.otherFileSystem)) func timesOfFilesAreMirroredAndListed() throws {
        let scene = try MirrorScene(["early": "1", "late": "2", "now": "3", "d": ["x": "4"]], inMemory: true)
        for (name, seconds) in [("early", Int.min), ("late", Int.max), ("d", Int.max)] {
            try TreeTime(seconds).set(on: scene.path("source/\(name)"))
        }
        try scene.mirror()
        try scene.apply().expect(0)
        try scene.mirror("--digest")
        try scene.remove("source/late")
        try scene.mirror()
        for command in [
            ["manifest", "list", "--long", "target"], ["manifest", "show", "target"],
            ["manifest", "verify", "target", "source"], ["snapshot", "find", "target", "late"],
            ["undo", "target"],
        ] {
            try scene.run(command).expect(0)
        }
    }

    // MARK: Documents of a state

    /// A document of a state, and the commands that make it.
    enum Document: String, CaseIterable {
        case manifest = ".fsync-lite/manifest.json"
        case header = "header.json"
        case list = "list.json"
        case lastRun = ".fsync-lite/last-run"
        case activity = ".fsync-lite/activity"
        case settings = ".fsync-lite/settings.json"
        case prepared = "prepared.json"
        case stageLog = "log"
        case journal = ".fsync-lite/journal"
        case plan = "plan.json"
    }

    private func scene(_ document: Document) throws -> (MirrorScene, String) {
        let scene = try MirrorScene(
            ["a": "1", "b": "22", "d": ["c": "333"], "l": .symlink("a")], inMemory: true
        ).mirrored("--keep-last", "5")
        try scene.append("more", to: "source/a")
        try scene.remove("source/b")
        try scene.mirror("--max-delete", "unlimited")
        try scene.append("still more", to: "source/a")
        switch document {
        case .prepared, .stageLog: try scene.apply("--prepare").expect(0)
        case .plan: try scene.plan("--out", "plan.json").expect(0)
        case .settings:
            try Data("{\"keep_last\": 3, \"keep_daily\": 2}".utf8)
                .write(to: URL(fileURLWithPath: scene.path("target/.fsync-lite/settings.json")))
        case .activity:
            let boot = try KernelClock.boot()
            let text = """
                {"began":"2026-11-21T09:00:00Z","boot":"\(boot)","bytes":7,"entries":3,"phase":"staging",
                "phase_began":"2026-11-21T09:00:00Z","process":\(getpid()),"total_bytes":9,"total_entries":4,"version":1}
                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: scene.path("target/.fsync-lite/activity")))
        case .journal:
            try scene.paused(at: .after("renameat2", of: "journal")).kill()
        default: break
        }
        return (scene, try scene.documents(named: document.rawValue)[0])
    }

    /// Each number and time of a document, and all of them at once. The document is used or refused.
    @Test(.needs(.strace), arguments: Document.allCases)
    func everyNumberIsUsedOrRefused(_ document: Document) throws {
        let (scene, path) = try scene(document)
        let file = URL(fileURLWithPath: scene.path(path))
        let text = Array(try Data(contentsOf: file))
        let fields = Extremes.fields(of: text)
        #expect(!fields.isEmpty)
        let target = Target(path: Array(scene.target.utf8))
        // The run of an activity has this lock.
        let root = try Directory.open(path: Array(scene.target.utf8))
        if document == .activity { try root.lock() }
        /// Reads it in this process, which a trap would end.
        func read() throws {
            do {
                _ = try target.status()
                _ = try target.snapshots()
                if document == .plan { _ = try SavedPlan(reading: LocalFile(file.path)) }
            } catch let error as SyncError {
                #expect([.invalidDocument, .pending].contains(error.code), "\(error)")
            }
        }
        for field in fields {
            for value in field.isTime ? Extremes.times : Extremes.numbers {
                try Data(Extremes.document(text, replacing: [field.range], with: value)).write(to: file)
                try read()
            }
        }
        // Commands on a document in which all numbers are the same.
        let some = [
            "-1", "2147483648", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
            "1e400",
        ]
        for (isTime, values) in [(false, some), (true, Extremes.times)] {
            let ranges = fields.filter { $0.isTime == isTime }.map(\.range)
            for value in ranges.isEmpty ? [] : values {
                let changed = Extremes.document(text, replacing: ranges, with: value)
                for command in commands(document, scene) {
                    try Data(changed).write(to: file)
                    let run = try scene.run(command)
                    let codes: Set<Int32> = [0, 1, 2, 3, 4, 5, 6, 65, 66]
                    #expect(
                        codes.contains(run.code), "\(document) \(value) \(command): \(run.code) \(run.errors)"
                    )
                }
            }
        }
    }

    /// None of these commands may write, because the next one uses the same state.
    private func commands(_ document: Document, _ scene: MirrorScene) -> [[String]] {
        switch document {
        case .plan: [["plan", "--show", "plan.json"]]
        case .prepared, .stageLog, .activity:
            [["status", "target"], ["status", "--json", "target"], ["plan", "source", "target"]]
        default:
            [
                ["status", "target"], ["status", "--json", "target"], ["status", "--prometheus", "target"],
                ["snapshot", "list", "target"], ["snapshot", "verify", "target"],
                ["plan", "source", "target"],
                ["undo", "target", "--dry-run"], ["snapshot", "prune", "target", "--dry-run"],
                ["manifest", "list", "--long", "target"], ["manifest", "verify", "target", "source"],
            ]
        }
    }
}

extension MirrorScene {
    /// The paths of the documents with this name, the newest first.
    fileprivate func documents(named name: String) throws -> [String] {
        if name.hasPrefix(".") { return ["target/\(name)"] }
        if FileManager.default.fileExists(atPath: path(name)) { return [name] }
        return try FileManager.default.subpathsOfDirectory(atPath: path("target/.fsync-lite"))
            .filter { $0.hasSuffix("/\(name)") }.sorted().reversed().map { "target/.fsync-lite/\($0)" }
    }
}
