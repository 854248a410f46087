import FileSystem
import Foundation
import Glibc
import TestNeeds
import TestSupport
import Testing

@testable import FsyncLite

/// What a run that was cut short has staged is used again only where nothing speaks against it.
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
            var record = StageRecord(transaction: "t")
            record.files = [
                StageRecord.StagedFile(
                    path: Array("f".utf8), place: Array("0/f".utf8), source: source, stagedInode: found.inode)
            ]
            try JSONDocument.encode(record).write(to: URL(fileURLWithPath: "\(name)/t/record.json"))
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

    @Test(arguments: ["inode", "created", "changed", "modified", "size"])
    func fileOfAnotherSourceIsNot(field: String) throws {
        let scene = try Scene()
        let other = with(scene.file.status) {
            switch field {
            case "inode": $0.inode = 8
            case "created": $0.created = seconds(3)
            case "changed": $0.changed = seconds(3)
            case "modified": $0.modified = seconds(1001)
            default: $0.size = 8
            }
        }
        scene.file = scene.file.with(other)
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

    @Test(arguments: [0o720, 0o702] as [mode_t]) func stageThatOthersMayWriteToIsNotUsed(mode: mode_t) throws
    {
        let scene = try Scene()
        try #require(chmod("\(scene.stage)/t", mode) == 0)
        #expect(try !scene.isUsed())
    }

    @Test func damagedRecordIsNone() throws {
        let scene = try Scene()
        try Data("{".utf8).write(to: URL(fileURLWithPath: "\(scene.stage)/t/record.json"))
        #expect(try !scene.isUsed())
    }

    // MARK: What is done to the staged file meanwhile

    @Test func fileThatSomebodyReplacedIsNotUsed() throws {
        let scene = try Scene()
        let used = try scene.isUsed {
            let other = "\(scene.directory.path)/other"
            try (.file("CONTENT", modified: TreeTime(1000)) as TreeLiteral).build(at: other)
            try #require(rename(other, scene.staged) == 0)
        }
        #expect(!used)
    }

    @Test func fileThatHasAnotherNameIsNotUsed() throws {
        let scene = try Scene()
        let used = try scene.isUsed { try #require(link(scene.staged, "\(scene.directory.path)/other") == 0) }
        #expect(!used)
    }

    @Test func fileThatWasWrittenToIsNotUsed() throws {
        let scene = try Scene()
        let used = try scene.isUsed {
            try Data("content, and more".utf8).write(to: URL(fileURLWithPath: scene.staged))
        }
        #expect(!used)
    }
}

extension [UInt8] {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
