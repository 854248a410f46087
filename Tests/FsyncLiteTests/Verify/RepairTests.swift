import FileSystem
import Foundation
import TestSupport
import Testing

@testable import FsyncLite

/// Changes between a verdict and the repair. A changed file is not overwritten, and a changed copy not used.
struct RepairTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory(inMemory: true)
        let time = TreeTime(1_600_000_000, 5)
        try (["a": .file("before", modified: time), "b": .file("other", modified: time)] as TreeLiteral)
            .build(at: path("source"))
        let run = try CommandRun(["apply", "--digest", "source", "target"], in: directory.path)
        #expect(run.code == 0, "\(run.errors)")
        // Copies have no recorded change times, so other content is rot.
        for (name, copy) in [("source", "from"), ("target", "to")] {
            try HostCommand.run("cp", "-a", path(name), path(copy))
        }
        try edit("to/a", "ROTTEN")
        try edit("from/b", "ROTTE")
    }

    private func path(_ name: String) -> String { "\(directory.path)/\(name)" }
    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: path(name), encoding: .utf8)
    }

    /// Restores size and time.
    private func edit(_ name: String, _ text: String) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path(name)))
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
        try TreeTime(1_600_000_000, 5).set(on: path(name))
    }

    /// Verifies, makes a change, and repairs.
    private func repair(after change: () throws -> Void) throws -> [Discrepancy] {
        let to = Array(path("to").utf8)
        var verification = Verification(of: to, by: try Tree(path: to))
        verification.source = .directory(Array(path("from").utf8))
        verification.readsContent = true
        var found: [Discrepancy] = []
        _ = try verification.run { found.append($0) }
        #expect(found.map(\.kind) == [.rotten, .rotten] && found.allSatisfy(\.isRepairable))
        ClockTick.pass()
        try change()
        return try verification.repair(found)
    }

    /// The file that needs a repair: edited in secret, edited, replaced, or only its mode.
    @Test(arguments: ["secret", "edited", "replaced", "mode"], ["to/a", "from/b"])
    func whatHasChangedSinceIsNotOverwritten(how: String, name: String) throws {
        let new = name == "to/a" ? "EDITED" : "EDITE"
        let found = try repair {
            switch how {
            case "secret": try edit(name, new)
            case "edited": try Data("\(new) and more".utf8).write(to: URL(fileURLWithPath: path(name)))
            case "replaced":
                try edit(name, new)
                try HostCommand.run("cp", "-p", path(name), path("new"))
                try HostCommand.run("mv", path("new"), path(name))
            default: try HostCommand.run("chmod", "600", path(name))
            }
        }
        let own = found[name == "to/a" ? 0 : 1]
        #expect(!own.isRepaired && own.message?.contains("has changed since it was read") == true, "\(own)")
        let now =
            how == "mode" ? (name == "to/a" ? "ROTTEN" : "ROTTE") : how == "edited" ? "\(new) and more" : new
        #expect(try text(name) == now)
        #expect(found[name == "to/a" ? 1 : 0].isRepaired)
    }

    /// The good copy is changed, so there is none.
    @Test(arguments: ["secret", "edited", "gone"], ["to/b", "from/a"])
    func aCopyThatIsNoLongerGoodIsNotTaken(how: String, name: String) throws {
        let (index, bad, content) = name == "to/b" ? (1, "from/b", "ROTTE") : (0, "to/a", "ROTTEN")
        let found = try repair {
            switch how {
            case "secret": try edit(name, name == "to/b" ? "WRONG" : "WRONG!")
            case "edited": try Data("quite another".utf8).write(to: URL(fileURLWithPath: path(name)))
            default: try FileManager.default.removeItem(atPath: path(name))
            }
        }
        #expect(!found[index].isRepaired && found[index].message != nil, "\(found)")
        #expect(try text(bad) == content)
    }
}
