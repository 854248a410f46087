import CLinux
import Glibc
import TestNeeds
import TestSupport
import Testing

/// Entries with more names of attributes than the kernel lists.
@Suite(.needs(.root, .xfs))
struct UnreadAttributeTests {
    @Test(arguments: [nil, FarMachine.Side.source])
    func theContentIsMirroredAndTheRestListed(_ side: FarMachine.Side?) throws {
        let scene = try MirrorScene([:], inMemory: true)
        try TestDisk.xfs.mounted(at: scene.source) {
            try scene.build(["f": "f", "d": ["in": "in"], "ok": "ok"], at: "source")
            for name in ["f", "d"] {
                for number in 0..<2500 {
                    let attribute = "user.nnnnnnnnnnnnnnnnnnnnnnnn\(number)"
                    #expect(setxattr(scene.path("source/\(name)"), attribute, "", 0, 0) == 0)
                }
            }
            #expect(setxattr(scene.path("source/ok"), "user.a", "b", 1, 0) == 0)
            if let side { scene.far = try FarMachine(has: side) }
            for _ in 0..<2 {
                try scene.apply().expect(
                    3, says: "d: its extended attributes cannot be read, nor those of 1 more")
                #expect(try scene.text("target/f") == "f")
                #expect(try scene.text("target/d/in") == "in")
                #expect(getxattr(scene.path("target/ok"), "user.a", nil, 0) == 1)
            }
            try scene.run("apply", "source", "plain", "--no-xattrs").expect(0)
            // A manifest lists them, too, and has the rest.
            try scene.run("manifest", "create", "source", "-o", "m.json").expect(
                3, says: "f: its extended attributes cannot be read")
            #expect(try scene.run("manifest", "list", "m.json").output.contains("ok"))
        }
    }
}
