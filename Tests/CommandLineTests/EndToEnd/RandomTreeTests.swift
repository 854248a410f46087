import TestSupport
import Testing

@Suite("Random trees, changed at random, on disk")
struct RandomTreeTests {
    /// The argument of a failed case is its seed.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func everyChangeIsPlannedMirroredAndThenNothingIsLeftToDo(seed: UInt64) throws {
        let scene = try MirrorScene([:], inMemory: true)
        var tree = try DiskTree(scene.source, seed: seed)
        try tree.grow(Int(seed % 40) + 3)
        try scene.mirror()

        try tree.change(Int(seed % 9) + 1)
        if seed.isMultiple(of: 4) {
            var drift = try DiskTree(scene.target, seed: ~seed)
            try drift.change(3)
        }
        let options = ["--max-delete", "unlimited", "--allow-empty-source", "--json"]
        let target = try scene.wholeTarget()
        let plan = try scene.run(["plan", "source", "target"] + options).expect(0)
        #expect(try scene.wholeTarget().touched(since: target) == [])

        let apply = try scene.run(["apply", "source", "target"] + options).expect(0)
        try scene.expectMirrored()
        let (planned, report) = (try plan.json(), try apply.json())
        #expect(planned.objects("actions").map(\.description) == report.objects("actions").map(\.description))
        #expect(planned.object("summary")?.description == report.object("summary")?.description)

        let before = try scene.wholeTarget()
        let again = try scene.run(["apply", "source", "target"] + options)
        #expect(try again.json().text("outcome") == "unchanged", "\(again.output)")
        #expect(
            try scene.wholeTarget().touched(since: before, except: [".fsync-lite", ".fsync-lite/last-run"])
                == [])
    }
}
