import TestNeeds
import TestSupport
import Testing

/// The other end is hostile. `scripts/attack --part wire` has more such cases, and measures their cost.
@Suite("A hostile other end", .needs(.tool("python3")))
struct HostileLineTests {
    private func scene(_ lines: String) throws -> MirrorScene {
        let scene = try FarMachine(has: .target).scene(["a": "a"])
        try scene.mirror()
        scene.far = try FarMachine(lines, has: .target)
        return scene
    }

    /// The log, and the document.
    @Test(arguments: [3, 4])
    func outputThatNobodyAskedForEndsTheRun(stream: Int) throws {
        let back = """
            if frame[4] == \(FarMachine.Frame.output):
                return struct.pack("<I", 7) + bytes([\(FarMachine.Frame.output), \(stream)]) + b"xxxxxx"
            """
        try scene(FarMachine.relay(back: back)).there("status", "far:target").expect(
            69, says: "output that was not asked for")
    }

    @Test func aLineOfTheLogIsBounded() throws {
        let back = """
            if frame[4] == \(FarMachine.Frame.output):
                return struct.pack("<I", 70001) + bytes([\(FarMachine.Frame.output), 3]) + b"x" * 70000
            """
        let scene = try scene(FarMachine.relay(back: back))
        try scene.append("more", to: "source/a")
        try scene.apply("--log-file", "log").expect(says: "output that was not asked for")
        #expect(try !scene.text("log").contains("xxx"))
    }

    /// The client's answers become signs of life.
    private static let pings = FarMachine.relay(
        there: "if frame[4] in (3, 4): return struct.pack(\"<I\", 0) + bytes([8])")

    /// A run whose client does not answer, and its end.
    private func ended(by option: String) throws -> CommandRun {
        let scene = try FarMachine(has: .target).scene(["a": "a"])
        try scene.mirror()
        try scene.append("more", to: "source/a")
        let usual = scene.far
        scene.far = try FarMachine("far=\"$far \(option)\"\n\(Self.pings)", has: .target)
        let run = try scene.apply()
        // Nothing is locked.
        scene.far = usual
        try scene.apply().expect(0)
        return run
    }

    @Test func aClientThatOnlySaysThatItIsThereIsGivenUp() throws {
        try ended(by: "--timeout 1s").expect(69)
    }

    @Test func aRunThatNeedsTooMuchMemoryEnds() throws {
        let run = try ended(by: "--max-memory 1")
        #expect(
            run.code != 0 && run.errors.contains("see --max-memory of serve"), "\(run.code) \(run.errors)")
    }
}
