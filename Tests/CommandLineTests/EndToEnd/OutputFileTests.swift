import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("Where a document goes that --output or --out names")
struct OutputFileTests {
    private static let manifest = "fsync-lite-manifest"

    private func create(_ scene: MirrorScene, _ output: String) throws -> CommandRun {
        try scene.run("manifest", "create", "source", "-o", output)
    }

    @Test func symlinksAreFollowedAndStay() throws {
        let scene = try MirrorScene(["a": "a"])
        try scene.build(
            ["old": "old", "sub": ["link": .symlink("../there")], "link": .symlink("old")], at: "d")
        #expect(try create(scene, "d/link").expect(0).output.isEmpty)
        #expect(try scene.text("d/old").contains(Self.manifest))
        // A link to a missing file, by a relative path.
        #expect(try create(scene, "d/sub/link").code == 0)
        #expect(try scene.text("d/there").contains(Self.manifest))
        for (name, destination) in [("d/link", "old"), ("d/sub/link", "../there")] {
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: scene.path(name)) == destination)
        }
        #expect(try scene.run("plan", "source", "target", "--out", "d/link").code == 0)
        #expect(try scene.text("d/old").contains("fsync-lite-saved-plan"))
    }

    @Test func aLogInTheTargetIsNamed() throws {
        let scene = try MirrorScene(["a": "a"])
        for _ in 0..<2 {
            try scene.apply("--log-file", "target/log").expect(says: "the log is in the target")
        }
        for (name, option) in [("target/log", "--exclude=/log"), ("log", "--checksum")] {
            let run = try scene.apply("--log-file", name, option)
            #expect(run.code == 0 && !run.errors.contains("the log is in"), "\(run.errors)")
        }
    }

    @Test func aFailedRunSaysWhyEvenIfItsLogCannotBeWritten() throws {
        let scene = try MirrorScene(["a": "a"])
        try scene.build([:], at: "log")
        try scene.run("apply", "nowhere", "target", "--log-file", "log").expect(66, says: "nowhere", "log: ")
    }

    @Test func whatIsNoRegularFileIsWrittenTo() throws {
        let scene = try MirrorScene(["a": "a"])
        try scene.build(["pipe": .fifo()], at: "d")
        let reader = open(scene.path("d/pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        #expect(try create(scene, "d/pipe").code == 0)
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = read(reader, &buffer, buffer.count)
        #expect(
            count > 0 && String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).contains(Self.manifest)
        )
        #expect(try scene.status("d/pipe").st_mode & S_IFMT == S_IFIFO)
        #expect(try create(scene, "/dev/stdout").output.contains(Self.manifest))
    }

    /// The device remains, and a failed write is an error.
    @Test(.needs(.root))
    func deviceStays() throws {
        let scene = try MirrorScene(["a": "a"])
        try HostCommand.run("mknod", scene.path("full"), "c", "1", "7")
        try create(scene, "full").expect(1, says: "full")
        #expect(try scene.status("full").st_mode & S_IFMT == S_IFCHR)
    }

    @Test func symlinksInACircleAndDirectoriesAreErrors() throws {
        let scene = try MirrorScene(["a": "a"])
        try scene.build(["x": .symlink("y"), "y": .symlink("x")], at: "d")
        #expect(try create(scene, "d/x").code == 1)
        #expect(try create(scene, "d").code == 1)
        #expect(try create(scene, "d/missing/m").code == 1)
    }

    /// The reader of a pipe has gone, as with `| head`. An inherited ignored signal would hide it.
    private static let brokenPipe = """
        mkfifo pipe
        sleep 600 < pipe &
        exec 3> pipe
        kill $!
        wait $! 2> /dev/null
        exec env --default-signal=PIPE "$@" >&3
        """

    @Test(arguments: [("exec \"$@\" > /dev/full", "No space left"), (brokenPipe, "Broken pipe")])
    func reportThatCannotBePrintedIsToldOnStandardError(script: String, text: String) throws {
        let scene = try MirrorScene(["a": "a"])
        try scene.here(["apply", "source", "target"], under: ["sh", "-c", script, "sh"]).expect(0, says: text)
        try scene.expectMirrored()
    }
}
