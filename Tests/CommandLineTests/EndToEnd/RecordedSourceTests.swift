import Foundation
import TestNeeds
import TestSupport
import Testing

/// A source on another machine reports only the differences from the manifest.
@Suite("Digests of directories on another machine", .needs(.later))
struct RecordedSourceTests {
    /// 50 directories with 100 files, and one that is deep.
    private static let tree: TreeLiteral = {
        var directories: [(TreeName, TreeLiteral)] = (0..<50).map {
            (TreeName(Array("d\($0)".utf8)), FarMachine.files(99, of: 3))
        }
        let deep: TreeLiteral = ["two": ["three": ["four": ["five": ["file": "deep", "other": "o"]]]]]
        directories.append((TreeName(Array("one".utf8)), deep))
        return .directory(directories, mode: 0o755, modified: nil)
    }()

    /// A mirror in which nothing is racy any more, with recorded connections.
    private func scene(
        _ tree: TreeLiteral = tree, _ side: FarMachine.Side = .source
    ) throws -> (MirrorScene, WireRecording) {
        let recording = try WireRecording(has: side)
        let scene = try recording.far.scene(tree)
        try scene.apply().expect(0)
        try scene.settle()
        return (scene, recording)
    }

    // MARK: What it costs

    /// A stream is smaller than lists of all directories. In each, a file that is open for writing is racy.
    @Test func whereLittleIsKnownEverythingIsListedAtOnce() throws {
        let recording = try WireRecording(has: .source)
        let scene = try recording.far.scene(Self.tree)
        var writers: [Int32] = []
        defer { for writer in writers { close(writer) } }
        for number in 0..<50 {
            let directory = scene.path("source/d\(number)")
            let name = try #require(FileManager.default.contentsOfDirectory(atPath: directory).first)
            writers.append(open("\(directory)/\(name)", O_WRONLY))
        }
        ClockTick.pass()
        try scene.mirror()
        #expect(try recording.last().requests.starts(with: ["open", "scan"]))
        try scene.mirror()
        let requests = try recording.last().requests
        #expect(requests.starts(with: ["open", "digests", "scan"]) && !requests.contains("list"))
    }

    @Test(arguments: FarMachine.Side.allCases, [false, true])
    func nothingToDoCostsAFewHundredBytes(side: FarMachine.Side, isRightAfterTheFirstRun: Bool) throws {
        let recording = try WireRecording(has: side)
        let scene = try recording.far.scene(Self.tree)
        if isRightAfterTheFirstRun { ClockTick.pass() }
        try scene.mirror()
        if !isRightAfterTheFirstRun { try scene.settle() }
        let run = try scene.mirror()
        #expect(run.output.hasPrefix("nothing to do; 5007 unchanged"), "\(run.output)")
        let connection = try recording.last()
        #expect(connection.requests == ["open", "digests"])
        #expect(connection.bytes.up < 1000 && connection.bytes.down < 1000, "\(connection.bytes)")
    }

    /// Both ends compute the same digest for each kind of entry.
    @Test(
        .needs(.root),
        arguments: [
            [], ["--no-owner"], ["--no-hard-links"], ["--exchange"], ["--digest"], ["--max-size", "30M"],
        ])
    func everyKindOfEntryIsKnownAgain(options: [String]) throws {
        let recording = try WireRecording(has: .source)
        let scene = try recording.far.scene(FarMachine.tree)
        try scene.link("source/a/deep/link", to: "source/latest")
        try scene.buildEverything()
        #expect(try scene.run(["apply", "source", "target"] + options).code == 0)
        try scene.settle(options)
        let run = try scene.run(["apply", "source", "target"] + options)
        #expect(run.output.hasPrefix("nothing to do"), "\(run.output)\(run.errors)")
        #expect(try recording.last().requests == ["open", "digests"])
    }

    @Test(arguments: FarMachine.Side.allCases)
    func oneChangedFileIsFoundOnTheWayDown(side: FarMachine.Side) throws {
        let (scene, recording) = try scene(Self.tree, side)
        try scene.append("er", to: "source/one/two/three/four/five/file")
        let run = try scene.mirror("--json")
        #expect(
            try run.json().actionLines == ["update one/two/three/four/five/file (size, modified)"])
        let connection = try recording.last()
        #expect(
            connection.requests == ["open", "digests"] + [String](repeating: "list", count: 6)
                + ["attributes", "content"])
        let bytes = connection.bytes
        #expect(bytes.up + bytes.down < 6000, "\(bytes)")
    }

    @Test(arguments: FarMachine.Side.allCases)
    func aRenamedDirectoryIsOneMoveAndIsNotListed(side: FarMachine.Side) throws {
        let (scene, recording) = try scene(
            ["a": FarMachine.files(2000, of: 1), "b": ["c": "c"], "d": [:]], side)
        try scene.move("source/a", to: "source/b/renamed")
        let run = try scene.mirror("--json")
        #expect(try run.json().actionLinesButTimes == ["move a -> b/renamed (renamed)"])
        let connection = try recording.last()
        #expect(connection.requests.filter { $0 == "list" }.count == 2, "\(connection.requests)")
        let bytes = connection.bytes
        #expect(bytes.up + bytes.down < 6000, "\(bytes)")
        // Everything in it is recorded.
        let next = try scene.mirror()
        #expect(next.output.hasPrefix("nothing to do"))
    }

    /// An edit in the target is known only there.
    @Test func whatWasChangedInTheTargetIsAskedFor() throws {
        let (scene, recording) = try scene()
        try scene.append("by hand", to: "target/d7/f3")
        try scene.setMode(0o600, of: "target/d8/f4")
        try scene.remove("target/d9")
        let run = try scene.mirror("--json")
        let lines = try run.json().actionLinesButTimes
        #expect(lines.count == 102, "\(lines)")
        #expect(lines.contains("update d7/f3 (size, modified, drift)"), "\(lines.prefix(3))")
        #expect(lines.contains("attributes d8/f4 (mode, drift)"), "\(lines.prefix(3))")
        let lists = try recording.last().requests.filter { $0 == "list" }
        #expect(lists.count == 3, "\(lists)")
        #expect(try !recording.last().requests.contains("scan"))
    }

    /// A file that has just changed may change again without moving a time.
    @Test func directoriesWithRacyEntriesAreListed() throws {
        let (scene, recording) = try scene()
        try scene.append("x", to: "source/d7/f3")
        try scene.mirror()
        try scene.editInSecret("source/d7/f3", "YYYY")
        let run = try scene.mirror("--json")
        #expect(try run.json().actionLines == ["update d7/f3 (content)"])
        #expect(try recording.last().requests.contains("list"))
        #expect(try !recording.last().requests.contains("scan"))
    }

    @Test func aStoreThatMovesNoTimeIsFoundInARacyFile() throws {
        let (scene, recording) = try scene()
        let mapped = try MappedFile(scene.path("source/d7/f3"))
        try scene.mirror()
        mapped.store("new")
        let run = try scene.mirror("--json")
        #expect(try run.json().actionLines == ["update d7/f3 (content)"])
        #expect(try !recording.last().requests.contains("scan"))
    }

    @Test func withoutDigestsOfFilesTheyAreRead() throws {
        let (scene, recording) = try scene(["a": ["b": "b"], "c": "c"])
        try scene.mirror("--digest")
        #expect(try recording.last().requests.contains("digest"))
        let manifest = try scene.text("target/.fsync-lite/manifest.json")
        #expect(manifest.components(separatedBy: "sha256:").count == 3)
        let verified = try scene.run("manifest", "verify", "--digest", "target", "target").expect(0)
        #expect(!verified.output.contains("without"), "\(verified.output)")
        try scene.mirror("--digest")
        #expect(try recording.last().requests == ["open", "digests"])
    }

    @Test func otherFiltersAndComparisonsListEverything() throws {
        let (scene, recording) = try scene(["a": ["b": ["c": "c"]], "d": "d"])
        try scene.mirror("--exclude", "x")
        #expect(try recording.last().requests == ["open", "scan"])
        try scene.mirror("--exclude", "x")
        #expect(try recording.last().requests == ["open", "digests"])
        #expect(try scene.run("apply", "source", "target", "--checksum", "--exclude", "x").code == 0)
        #expect(try recording.last().requests.starts(with: ["open", "scan"]))
    }

    // MARK: The same as with a list of everything

    /// An apply from a directory of this machine lists everything. After each change, the plans, the trees
    /// and the manifests' values of the source are the same.
    @Test(
        arguments: 1...3,
        [
            [], ["--ignore-file", "a", "--exclude", "c"], ["--max-size", "3"],
            ["--no-hard-links", "--digest"],
        ])
    func runsAreThoseWithAWholeList(seed: UInt64, options: [String]) throws {
        let recording = try WireRecording(has: seed % 2 == 0 ? .target : .source)
        let scene = try recording.far.scene([:])
        try scene.remove("source")
        var tree = try DiskTree(scene.source, seed: seed)
        try tree.grow(40)
        let limits = ["--max-delete", "unlimited", "--allow-empty-source"] + options
        func run(_ verb: String, _ target: String, minutes: Int?) throws -> CommandRun {
            let here = [verb, "source", target, "--json"] + limits
            let arguments = target == "there" ? recording.far.reaching(here, in: scene.directory.path) : here
            return try scene.here(arguments, under: minutes.map { LaterRun.prefix(minutes: $0) } ?? [])
        }
        for round in 0..<4 {
            ClockTick.pass()
            // The first run makes the mirror, the second one removes racy marks, the third one tries digests.
            for minutes in [nil, 100 * round + 10, nil] as [Int?] {
                var said: [[String]] = []
                for target in ["there", "here"] {
                    let plan = try run("plan", target, minutes: minutes)
                    let apply = try run("apply", target, minutes: minutes)
                    let codes = ["plan \(plan.code)", "apply \(apply.code)"]
                    said.append(try codes + plan.json().actionLines)
                }
                #expect(said[0] == said[1], "seed \(seed), round \(round), \(options)")
                guard said[0].starts(with: ["plan 0", "apply 0"]) else { return }
                let recorded = try ["there", "here"].map { try sourceEntries(of: $0, scene) }
                #expect(recorded[0] == recorded[1], "seed \(seed), round \(round), \(options)")
            }
            let trees = try ["there", "here"].map { try TreeSnapshot(scene.path($0)) }
            #expect(trees[0].differences(from: trees[1]) == [], "seed \(seed), round \(round), \(options)")
            try tree.change(round == 2 ? 40 : 5)
            for target in ["there", "here"] where round > 0 {
                var drift = DiskTree(at: scene.path(target), seed: seed &+ UInt64(round))
                try drift.drift(2)
            }
        }
        let requests = try recording.last().requests
        #expect(requests.contains("digests"), "\(requests)")
    }

    /// The manifest's entries without the values of the target.
    private func sourceEntries(of target: String, _ scene: MirrorScene) throws -> [String] {
        try scene.text("\(target)/.fsync-lite/manifest.json").split(separator: "\n")
            .filter { $0.hasPrefix("{\"path") }
            .map { line in
                [#","target_inode":[0-9]+"#, #","target_changed":"[^"]*""#, ",$"]
                    .reduce(String(line)) {
                        $0.replacingOccurrences(of: $1, with: "", options: .regularExpression)
                    }
            }
    }
}
