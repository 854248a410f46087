import TestNeeds
import TestSupport
import Testing

/// What is read ahead, and by how many threads, shows in nothing but the time.
@Suite("Reading ahead") struct ReadingAheadTests {
    /// Many directories, some that cannot be read, one with many entries, and content.
    private func tree(unreadable: UInt32 = 0o755) -> TreeLiteral {
        var children: [(name: TreeName, node: TreeLiteral)] = []
        for number in 0..<60 {
            let mode: UInt32 = number % 7 == 3 ? unreadable : 0o755
            let inner: TreeLiteral = .directory(
                ["f": .file("\(number)"), "d": ["g": "in"], "l": .symlink("f")], mode: mode)
            let outer: TreeLiteral = ["a": inner, "b": .file("\(number)")]
            children.append((TreeName(stringLiteral: "\(number)"), outer))
        }
        var many: [(name: TreeName, node: TreeLiteral)] = []
        for number in 0..<1500 {
            let node: TreeLiteral = number % 500 == 499 ? ["x": "y"] : .file("")
            many.append((TreeName(stringLiteral: "\(number)"), node))
        }
        children.append(("many", .directory(many, mode: 0o755, modified: nil)))
        return .directory(children, mode: 0o755, modified: nil)
    }

    @Test("Unreadable directories are listed in the same order", .enabled(if: OrdinaryUser.isAvailable))
    func unreadableDirectories() throws {
        let scene = try MirrorScene(tree(unreadable: 0), as: .ordinary, inMemory: true)
        let runs = try ["1", "2", "8"].map {
            try scene.run("apply", "source", "target-\($0)", "--threads", $0, "--keep-going")
        }
        #expect(runs[0].code == 3)
        #expect(runs[0].errors.contains("source/3/a") || runs[0].errors.contains("3/a"))
        for (run, threads) in zip(runs, ["1", "2", "8"]) {
            #expect(run.code == 3)
            func plain(_ run: CommandRun, _ threads: String) -> String {
                run.errors.replacing("target-\(threads)", with: "target")
            }
            #expect(plain(run, threads) == plain(runs[0], "1"))
        }
        #expect(runs[0].errors.split(separator: "\n").count >= 8)
    }

    /// Fewer descriptors than reading ahead would like to have.
    @Test("A run with few descriptors", .enabled(if: HostCommand.works(["prlimit", "--version"])))
    func fewDescriptors() throws {
        let scene = try MirrorScene(tree(), inMemory: true)
        var inner: TreeLiteral = ["leaf": "leaf"]
        for _ in 0..<100 { inner = ["d": inner, "e": ["f": "f"]] }
        try scene.build(inner, at: "source/deep")
        for options in [["--threads", "8"], [], ["--threads", "8", "--checksum"], ["--digest"]] {
            let run = try CommandRun(
                ["apply", "source", "target"] + options, in: scene.directory.path,
                under: ["prlimit", "--nofile=64:64"])
            #expect(run.code == 0, "\(options): \(run.errors)")
        }
        try scene.expectMirrored()
    }
}
