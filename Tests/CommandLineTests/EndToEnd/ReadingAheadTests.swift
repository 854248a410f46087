import TestSupport
import Testing

/// Reading ahead, by any number of threads, changes only the time.
@Suite("Reading ahead") struct ReadingAheadTests {
    /// Many directories, some unreadable ones, one with many entries, and content.
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

    /// Fewer descriptors than reading ahead would use.
    @Test("A run with few descriptors", .enabled(if: HostCommand.works(["prlimit", "--version"])))
    func fewDescriptors() throws {
        let scene = try MirrorScene(tree(), inMemory: true)
        var inner: TreeLiteral = ["leaf": "leaf"]
        for _ in 0..<100 { inner = ["d": inner, "e": ["f": "f"]] }
        try scene.build(inner, at: "source/deep")
        for options in [["--threads", "8"], [], ["--threads", "8", "--checksum"], ["--digest"]] {
            try scene.here(
                ["apply", "source", "target"] + options,
                under: ["prlimit", "--nofile=64:64"]
            ).expect(0)
        }
        try scene.expectMirrored()
    }

    // MARK: Contents

    /// 300 files. Each tenth has other names, and each seventh is larger than the part that is announced.
    private func contents() -> TreeLiteral {
        var children: [(name: TreeName, node: TreeLiteral)] = []
        for number in 0..<300 {
            let text = String(repeating: "\(number) ", count: number % 70 == 7 ? 400_000 : 3)
            children.append((name(number), .file(text, modified: TreeTime(1_600_000_000, 1))))
        }
        return ["d": .directory(children, mode: 0o755, modified: nil)]
    }

    private func name(_ number: Int) -> TreeName { TreeName(stringLiteral: "\(1000 + number)") }

    @Test("Digests are those of sha256sum, in the order of the paths")
    func digestsInOrder() throws {
        let scene = try MirrorScene(contents(), inMemory: true)
        let exported = try scene.run("manifest", "export", "source", "--format", "sha256sum").expect(0)
        let sums = try HostCommand.output("sh", "-c", "cd '\(scene.source)' && sha256sum ./d/*")
        #expect(exported.output == sums)
        try scene.run("manifest", "create", "source", "--digest", "--output", "m.json").expect(0)
        let again = try scene.run("manifest", "export", "m.json", "--format", "sha256sum")
        #expect(again.output == sums)
    }

    @Test("What was edited in secret is told in the order of the paths")
    func findingsInOrder() throws {
        let scene = try MirrorScene(contents(), inMemory: true).mirrored("--digest", "--verify")
        let edited = [3, 31, 32, 33, 77, 150, 299]
        for number in edited { try scene.editInSecret("target/d/\(1000 + number)", secret(number)) }
        try scene.setMode(0o600, of: "target/d/1040")
        try scene.remove("target/d/1100")
        let run = try scene.run(
            "manifest", "verify", "target", "target", "--digest", "--source", "source", "--json")
        let found = try run.json().objects("discrepancies").map { entry in
            "\(entry.text("kind") ?? "?") \(entry.text("path") ?? "?")"
        }
        #expect(found.filter { $0.hasPrefix("edited") } == edited.map { "edited d/\(1000 + $0)" })
        let names = found.filter { $0 != "changed d" }.compactMap {
            $0.split(separator: " ").last.map(String.init)
        }
        #expect(names == names.sorted() && names.count == edited.count + 2)
    }

    @Test("Each file that differs is found, under all of its names", arguments: ["1", "4"])
    func comparisons(threads: String) throws {
        let scene = try MirrorScene(contents(), inMemory: true)
        for number in stride(from: 0, to: 300, by: 10) {
            try HostCommand.run(
                "ln", scene.path("source/d/\(1000 + number)"), scene.path("source/d/x\(number)"))
            try HostCommand.run(
                "ln", scene.path("source/d/\(1000 + number)"), scene.path("source/x\(number)"))
        }
        try scene.mirror("--threads", threads)
        #expect(try scene.plan("--checksum").output.contains("nothing to do"))
        let edited = [0, 3, 20, 31, 77, 150, 290, 299]
        for number in edited { try scene.editInSecret("target/d/\(1000 + number)", secret(number)) }
        try scene.mirror("--checksum", "--threads", threads)
    }

    /// As long as the content of that file.
    private func secret(_ number: Int) -> String {
        String(repeating: "\(number) ", count: number % 70 == 7 ? 400_000 : 3).replacing(" ", with: "_")
    }
}
