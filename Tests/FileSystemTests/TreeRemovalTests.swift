import FileSystem
import Foundation
import TestNeeds
import TestSupport
import Testing

struct TreeRemovalTests {
    private let files: TemporaryDirectory
    private let directory: Directory
    private let tree = FileName(number: 1)

    init() throws {
        files = try TemporaryDirectory(inMemory: true)
        directory = try files.open()
        try (["f": "f", "d": ["e": ["g": "g"], "link": .symlink("/"), "pipe": .fifo()]] as TreeLiteral)
            .build(at: "\(files.path)/1")
        try (["kept": "kept"] as TreeLiteral).build(at: "\(files.path)/outside")
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: files.path).sorted() }
    }

    @Test func allOfItGoesAndNothingElse() throws {
        try TreeRemoval.remove(tree, in: directory)
        #expect(try names == ["outside"])
        // A missing tree is removed already.
        try TreeRemoval.remove(tree, in: directory)
    }

    @Test func symlinksAreNotFollowed() throws {
        try #require(symlink("../outside", "\(files.path)/1/d/out") == 0)
        try #require(symlink("outside", "\(files.path)/2") == 0)
        try TreeRemoval.remove(tree, in: directory)
        try TreeRemoval.remove(FileName(number: 2), in: directory)
        #expect(try names == ["outside"])
        #expect(FileManager.default.fileExists(atPath: "\(files.path)/outside/kept"))
    }

    @Test func closedDirectoriesAreOpened() throws {
        try #require(chmod("\(files.path)/1/d/e", 0) == 0)
        try #require(chmod("\(files.path)/1/d", 0o500) == 0)
        try TreeRemoval.remove(tree, in: directory)
        #expect(try names == ["outside"])
    }

    /// They are open then, also for root, who needs no permission.
    @Test func whatIsDeclinedStaysWithItsDirectories() throws {
        try #require(chmod("\(files.path)/1/d", 0o500) == 0)
        try TreeRemoval.remove(tree, in: directory) { $0.type != .fifo }
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: "\(files.path)/1").sorted() == [
                "d", "d/pipe",
            ])
        var left = stat()
        try #require(stat("\(files.path)/1/d", &left) == 0)
        #expect(left.st_mode & 0o7777 == 0o700)
    }

    @Test(.needs(.mounts), arguments: [false, true]) func whatIsMountedInsideStopsIt(isBind: Bool) throws {
        let disk: TestDisk = isBind ? .bind("\(files.path)/outside") : .tmpfs(options: "size=1m")
        try disk.mounted(at: "\(files.path)/1/d/e") {
            try Data("theirs".utf8).write(to: URL(fileURLWithPath: "\(files.path)/1/d/e/theirs"))
            #expect { try TreeRemoval.remove(tree, in: directory) } throws: {
                ($0 as? SystemError)?.errno == .busy
            }
            #expect(FileManager.default.fileExists(atPath: "\(files.path)/1/d/e/theirs"))
        }
    }

    @Test func deepTreesNeedNoStackAndFewDescriptors() throws {
        let deep = FileName(number: 3)
        try directory.makeDirectory(deep)
        var current = try directory.directory(deep)
        for _ in 0..<3000 {
            try current.makeDirectory(deep)
            try current.makeDirectory(FileName("other"))
            current = try current.directory(deep)
        }
        try TreeRemoval.remove(deep, in: directory)
        #expect(try names == ["1", "outside"])
    }

    /// If one object cannot be removed, the others are.
    @Test(.needs(.immutableFiles))
    func allButWhatCannotBeRemovedGoes() throws {
        try HostCommand.run("chattr", "+i", "\(files.path)/1/d/e/g")
        defer { _ = HostCommand.works("chattr", "-i", "\(files.path)/1/d/e/g") }
        #expect(throws: SystemError.self) { try TreeRemoval.remove(tree, in: directory) }
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: "\(files.path)/1").sorted() == [
                "d", "d/e", "d/e/g",
            ])
    }
}
