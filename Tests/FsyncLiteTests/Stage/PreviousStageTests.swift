import FileStorage
import FileSystem
import Foundation
import TestNeeds
import TestSupport
import Testing

@testable import FsyncLite

/// The staged files of an interrupted run are used again only if nothing has changed.
struct PreviousStageTests {
    private final class Scene {
        let directory: TemporaryDirectory
        let root: Directory
        let state: StateDirectory
        let goal: Directory
        /// The source's file as it was staged.
        var file: File
        var stage: String { "\(directory.path)/.fsync-lite/stage" }
        var staged: String { "\(stage)/t/0/f" }

        init() throws {
            directory = try TemporaryDirectory(inMemory: true)
            root = try directory.open()
            state = try StateDirectory.make(in: root)
            try state.directory.makeDirectory(FileName("goal"))
            goal = try state.directory.directory(FileName("goal"))
            let name = "\(directory.path)/.fsync-lite/stage"
            try (["t": ["0": ["f": .file("content", modified: TreeTime(1000))]]] as TreeLiteral).build(
                at: name)
            for path in [name, "\(name)/t"] { try #require(chmod(path, 0o700) == 0) }
            let source = with(status(.file)) {
                ($0.inode, $0.created, $0.changed, $0.modified) = (7, seconds(1), seconds(2), seconds(1000))
                $0.size = 7
            }
            file = File(path: path("f"), status: source, destination: [])
            let found = try #require(
                try Directory.open(path: Array("\(name)/t/0".utf8)).status(of: FileName("f")))
            let staged = StagedFile(
                path: file.path, location: path("0/f"), source: source, stagedInode: found.inode)
            line = staged.line
            try writeLog("\(Self.header)\n\(line)\n")
        }

        static let header = StageLogHeader(transaction: "t", attributes: .all).line
        /// The line of the file in the log.
        let line: String

        func writeLog(_ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(stage)/t/log"))
        }

        static func files(in stage: String) throws -> [StagedFile] {
            var files: [StagedFile] = []
            try StageLog.read(in: .open(path: Array("\(stage)/t".utf8)), if: { _ in true }) {
                files.append($0)
            }
            return files
        }

        /// Whether the staged file is used for the source's.
        func isUsed(_ attributes: MirroredAttributes = .all, until meanwhile: () throws -> Void = {}) throws
            -> Bool
        {
            guard let previous = try PreviousStage(state, for: [file], attributes) else { return false }
            try meanwhile()
            let status = try previous.take(file, to: goal, FileName("f"))
            try previous.discard(from: state)
            #expect(try FileManager.default.contentsOfDirectory(atPath: stage) == [])
            return status != nil
        }
    }

    @Test func fileOfTheSameSourceIsUsed() throws {
        let scene = try Scene()
        #expect(try scene.isUsed())
        #expect(try String(contentsOfFile: "\(scene.goal.path.text)/f", encoding: .utf8) == "content")
    }

    @Test(
        arguments: [
            { $0.inode = 8 }, { $0.created = seconds(3) }, { $0.changed = seconds(3) },
            { $0.modified = seconds(1001) }, { $0.size = 8 },
        ] as [@Sendable (inout FileStatus) -> Void])
    func fileOfAnotherSourceIsNot(change: @Sendable (inout FileStatus) -> Void) throws {
        let scene = try Scene()
        scene.file = scene.file.with(with(scene.file.status, change))
        #expect(try !scene.isUsed())
    }

    @Test func otherAttributesNeedAnotherCopy() throws {
        #expect(try !Scene().isUsed(MirroredAttributes.all.subtracting(.owner)))
    }

    @Test(.needs(.root)) func stageOfAnotherOwnerIsNotUsed() throws {
        let scene = try Scene()
        try #require(chown("\(scene.stage)/t", 4321, 0) == 0)
        #expect(try !scene.isUsed())
    }

    /// Each makes the stage useless.
    private static let harms: [String: @Sendable (Scene) throws -> Void] = [
        "the group may write to it": { try #require(chmod("\($0.stage)/t", 0o720) == 0) },
        "others may write to it": { try #require(chmod("\($0.stage)/t", 0o702) == 0) },
        "no log": {
            try #require(unlink("\($0.stage)/t/log") == 0)
            // A file of earlier versions, which nothing reads now.
            try Data("{}\n".utf8).write(to: URL(fileURLWithPath: "\($0.stage)/t/record.json"))
        },
        "a log of another kind": {
            try #require(unlink("\($0.stage)/t/log") == 0)
            try #require(mkfifo("\($0.stage)/t/log", 0o600) == 0)
        },
    ]

    @Test(arguments: harms.keys.sorted()) func harmedStageIsNotUsed(harm: String) throws {
        let scene = try Scene()
        let doHarm = try #require(PreviousStageTests.harms[harm])
        try doHarm(scene)
        #expect(try !scene.isUsed())
    }

    @Test(arguments: ["", "fsync-lite-stage 2 t 31\n", "\(Scene.header) \n", "{\n", "\0\0\0\n"])
    func belowAnotherHeaderNothingIsUsed(header: String) throws {
        let scene = try Scene()
        try scene.writeLog("\(header)\(scene.line)\n")
        #expect(try !scene.isUsed())
    }

    @Test func tornLineIsNone() throws {
        let scene = try Scene()
        for length in 0...scene.line.utf8.count {
            try scene.writeLog("\(Scene.header)\n\(scene.line.prefix(length))")
            let log = try Scene.files(in: scene.stage)
            #expect(log.isEmpty, "\(length)")
        }
        #expect(try !scene.isUsed())
    }

    @Test(arguments: [
        "", "torn", String(repeating: "\0", count: 100), String(repeating: "x", count: 2_000_000),
    ])
    func lineThatCannotBeReadEndsTheLog(line: String) throws {
        let scene = try Scene()
        try scene.writeLog("\(Scene.header)\n\(scene.line)\n\(line)\n\(scene.line)\n")
        #expect(try Scene.files(in: scene.stage).count == 1)
        #expect(try scene.isUsed())
    }

    // MARK: What is done to the staged file meanwhile

    @Test(arguments: ["replaced", "linked", "written to"]) func fileThatChangesIsNotUsed(change: String)
        throws
    {
        let scene = try Scene()
        let other = "\(scene.directory.path)/other"
        let used = try scene.isUsed {
            switch change {
            case "replaced":
                try (.file("CONTENT", modified: TreeTime(1000)) as TreeLiteral).build(at: other)
                try #require(rename(other, scene.staged) == 0)
            case "linked": try #require(link(scene.staged, other) == 0)
            default: try Data("content, and more".utf8).write(to: URL(fileURLWithPath: scene.staged))
            }
        }
        #expect(!used)
    }
}

extension [UInt8] {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
