import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("What is mounted in a source")
struct MountTests {
    private static let tree: TreeLiteral = ["a": "a", "disk": [:]]

    /// Mirrors with a disk that has a file at `source/disk`.
    private func mirrorWithDisk(
        _ scene: MirrorScene, _ disk: TestDisk = .tmpfs(options: "size=4m")
    ) throws {
        try disk.mounted(at: scene.path("source/disk")) {
            try scene.build(["in": "it"], at: "source/disk")
            try scene.apply().expect(0)
            #expect(try scene.apply().output.contains("nothing to do"))
            #expect(try scene.text("target/disk/in") == "it")
        }
    }

    private func expectRefused(
        _ scene: MirrorScene, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try scene.wholeTarget()
        try scene.apply().expect(
            4, says: "refused: disk in the source \(text)", "--change-source", sourceLocation: sourceLocation)
        #expect(try scene.wholeTarget().differences(from: before) == [], sourceLocation: sourceLocation)
    }

    @Test(.needs(.mounts), arguments: [TestDisk.tmpfs(options: "size=4m"), .ext4(megabytes: 4)])
    func aDiskThatIsMissing(disk: TestDisk) throws {
        let scene = try MirrorScene(Self.tree, inMemory: true)
        try mirrorWithDisk(scene, disk)
        try expectRefused(scene, "was mounted last time and is not now")
        // The directory may disappear with the disk, as with automounters.
        if case .ext4 = disk {
            try scene.remove("source/disk")
            try expectRefused(scene, "was mounted last time and is not now")
            try scene.build([:], at: "source/disk")
        }
        #expect(try scene.apply("--exclude", "/disk").code == 0)
        try expectRefused(scene, "was mounted last time and is not now")
        #expect(try scene.apply("--no-delete").code == 0)
        try expectRefused(scene, "was mounted last time and is not now")
        #expect(try scene.apply("--change-source").code == 0)
        #expect(!scene.exists("target/disk/in"))
        #expect(try scene.apply().code == 0)
    }

    /// A disk that was removed may have lost content that a run has read, without a change of times.
    @Test(.needs(.mounts, .strace), arguments: ["source", "source/disk"])
    func whatWasYoungIsReadAgainAfterANewMount(place: String) throws {
        let scene = try MirrorScene(["other": "o", "disk": [:]])
        guard scene.far == nil else { return }
        let folder = try TemporaryDirectory(inMemory: true)
        let image = "\(folder.path)/image"
        try HostCommand.run("truncate", "-s", "8M", image)
        try HostCommand.run("mkfs.ext4", "-q", image)
        func opens() throws -> Bool {
            try scene.here(
                ["apply", "source", "target"],
                under: ["strace", "-f", "-e", "trace=openat", "-o", scene.path("calls")]
            ).expect(0)
            return try scene.text("calls").contains("\"young\"")
        }
        for round in 0..<3 {
            try HostCommand.run("mount", "-o", "loop", image, scene.path(place))
            defer { try? HostCommand.run("umount", scene.path(place)) }
            if round == 0 {
                try scene.build(["young": "y"], at: "\(place)/d")
                ClockTick.pass()
                #expect(try opens())
            } else {
                #expect(try opens())
            }
            #expect(try !opens())
        }
    }

    @Test(.needs(.mounts), arguments: [nil, FarMachine.Side.source, .target])
    func anotherDisk(side: FarMachine.Side?) throws {
        let scene = try MirrorScene(Self.tree, inMemory: true)
        if let side { scene.far = try FarMachine(has: side) }
        try mirrorWithDisk(scene, .ext4(megabytes: 4))
        try expectRefused(scene, "was mounted last time and is not now")
        try TestDisk.ext4(megabytes: 4).mounted(at: scene.path("source/disk")) {
            try scene.build(["theirs": "x"], at: "source/disk")
            try expectRefused(scene, "shows another file system than last time")
            #expect(try scene.apply("--change-source").code == 0)
            #expect(scene.exists("target/disk/theirs"))
        }
        #expect(try scene.apply("--change-source").code == 0)
        #expect(!scene.exists("target/disk/theirs"))
    }

    @Test(.needs(.mounts)) func aDiskThatIsMountedElsewhereHasMoved() throws {
        let scene = try MirrorScene(["a": "a", "disk": [:], "usb": [:]], inMemory: true)
        try mirrorWithDisk(scene)
        try scene.build([:], at: "aside")
        try TestDisk.tmpfs(options: "size=4m").mounted(at: scene.path("source/usb")) {
            try scene.build(["in": "it"], at: "source/usb")
            try scene.apply().expect(0)
            #expect(scene.exists("target/usb/in") && !scene.exists("target/disk/in"))
        }
    }

    @Test(.needs(.mounts)) func ofOneSourceAmongSeveral() throws {
        let scene = try MirrorScene(["home": ["disk": [:], "f": "f"], "etc": ["x": "x"]], inMemory: true)
        let sources = #"{"home": "\#(scene.source)/home", "etc": "\#(scene.source)/etc"}"#
        try scene.writeJob("all", source: "\"sources\": \(sources)")
        func run(_ options: String...) throws -> CommandRun {
            try scene.here(["run", "all", "--settings", "settings.json"] + options)
        }
        try TestDisk.tmpfs(options: "size=4m").mounted(at: scene.path("source/home/disk")) {
            try scene.build(["in": "it"], at: "source/home/disk")
            try run("--create-target").expect(0)
        }
        try run().expect(4, says: "home/disk in the source was mounted last time")
        #expect(try run("--change-source").code == 0)
    }

    /// A mount of a part of the same file system is a mount, too.
    @Test(.needs(.mounts)) func oneFileSystemLeavesOutBindMounts() throws {
        let scene = try MirrorScene(["bind": [:], "file": "under", "z": "z"], inMemory: true)
        try scene.build(["g": "g"], at: "other")
        func expect(_ names: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
            try scene.apply("--one-file-system").expect(0, sourceLocation: sourceLocation)
            #expect(try TreeSnapshot(scene.target).paths == names, sourceLocation: sourceLocation)
        }
        try TestDisk.bind(scene.path("other")).mounted(at: scene.path("source/bind")) {
            try TestDisk.bind(scene.path("other/g")).mounted(at: scene.path("source/file")) {
                try expect(["bind", "z"])
                for path in ["bind/g", "file"] {
                    try scene.run("explain", "target", path).expect(2, prints: "is on another file system")
                }
            }
            try expect(["bind", "file", "z"])
            // The mirror's file remains while another one is mounted on the source's.
            try TestDisk.bind(scene.path("other/g")).mounted(at: scene.path("source/file")) {
                try expect(["bind", "file", "z"])
                #expect(try scene.text("target/file") == "under")
            }
        }
        // The source itself may be mounted.
        try TestDisk.bind(scene.source).mounted(at: scene.source) { try expect(["bind", "file", "z"]) }
    }
}
