import TestNeeds
import TestSupport
import Testing

@Suite("On a terminal: progress and colours")
struct TerminalTests {
    private static let environment = ["TERM": "xterm"]

    private func scene() throws -> MirrorScene {
        try MirrorScene(["d": ["a": .file(String(repeating: "x", count: 300_000)), "b": "b"], "c": "c"])
    }

    private func run(
        _ scene: MirrorScene, _ arguments: [String], columns: Int, environment: [String: String] = environment
    ) throws -> String {
        let terminal = try Terminal(columns: columns)
        let command = try RunningCommand(
            arguments, in: scene.directory.path, environment: environment, errors: terminal)
        let run = try command.finish()
        let text = try terminal.finish()
        #expect(run.code == 0, "\(text)")
        return text
    }

    @Test(arguments: [1, 2, 9, 20, 40, 80, 132, 300])
    func progressFitsAnyWidthAndIsGoneAtTheEnd(columns: Int) throws {
        let scene = try scene()
        let drawings = Terminal.drawings(of: try run(scene, ["apply", "source", "target"], columns: columns))
        for line in drawings {
            #expect(line.count < columns)
            #expect(!line.contains("\n"))
        }
        #expect(drawings.last == "")
        try scene.expectMirrored()
        guard columns >= 80 else { return }
        for phase in ["scanning", "staging", "syncing", "committing"] {
            #expect(drawings.contains { $0.hasPrefix(phase) }, "\(phase): \(drawings)")
        }
        #expect(drawings.contains { $0.contains("[") && $0.contains("%") && $0.contains("4 files") })
    }

    @Test(.needs(.strace))
    func aNarrowerWindowGetsNarrowerLines() throws {
        let scene = try scene()
        let terminal = try Terminal(columns: 120)
        let command = try PausedCommand(
            ["apply", "source", "target"], in: scene.directory.path, at: .after("syncfs"),
            environment: Self.environment, errors: terminal)
        #expect(try command.waitForPause())
        terminal.resize(columns: 8)
        #expect(try command.finish().code == 0)
        let drawings = Terminal.drawings(of: try terminal.finish())
        let change = try #require(drawings.firstIndex { $0.hasPrefix("commit") })
        #expect(drawings[..<change].contains { $0.count > 8 })
        #expect(drawings[change...].allSatisfy { $0.count < 8 })
        #expect(drawings[change] == "committ")
    }

    @Test(arguments: [["apply", "source", "target"], ["plan", "source", "target"]])
    func quietAndDumbTerminalsGetNoProgress(arguments: [String]) throws {
        let scene = try scene()
        #expect(try run(scene, arguments + ["--quiet"], columns: 80) == "")
        #expect(try run(scene, arguments, columns: 80, environment: ["TERM": "dumb"]) == "")
        #expect(try run(scene, arguments, columns: 80) != "")
    }

    @Test func linesHaveColourOnATerminalThatIsNotToldOtherwise() throws {
        let scene = try scene()
        func plan(_ environment: [String: String], options: [String] = []) throws -> String {
            let terminal = try Terminal(columns: 80)
            let command = try RunningCommand(
                ["plan", "source", "target"] + options, in: scene.directory.path, environment: environment,
                output: terminal)
            #expect(try command.finish().code == 0)
            return try terminal.finish()
        }
        #expect(try plan(["TERM": "xterm", "NO_COLOR": ""]).contains("\u{1B}[32m+ c  1 B  (new)\u{1B}[0m"))
        #expect(!(try plan(["TERM": "xterm", "NO_COLOR": "1"])).contains("\u{1B}"))
        #expect(!(try plan(["TERM": "dumb", "NO_COLOR": ""])).contains("\u{1B}"))
        #expect(!(try plan(["TERM": "xterm", "NO_COLOR": ""], options: ["--json"])).contains("\u{1B}"))
    }
}
