import Glibc
import TestNeeds
import TestSupport
import Testing

/// What is no file and can have several names.
enum LinkedKind: String, CaseIterable, Sendable {
    case symlink, pipe, device

    /// Only root makes device nodes.
    static let possible = allCases.filter { $0 != .device || geteuid() == 0 }

    func make(_ name: String, in scene: MirrorScene) throws {
        switch self {
        case .symlink: try scene.build(.symlink("dir"), at: "source/\(name)")
        case .pipe: try scene.build(.fifo(), at: "source/\(name)")
        case .device: try #require(mknod(scene.path("source/\(name)"), S_IFCHR | 0o600, makedev(1, 3)) == 0)
        }
        try scene.setTime(TreeTime(1_600_000_000, 3), of: "source/\(name)")
    }

    private func makedev(_ major: UInt, _ minor: UInt) -> dev_t { dev_t(major << 8 | minor) }
}

/// A change of what is linked to what.
struct OtherLinkChange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable (MirrorScene, LinkedKind) throws -> Void

    static let all: [OtherLinkChange] = [
        .init(testDescription: "one more name") { scene, _ in
            try scene.link("source/four", to: "source/dir/three")
        },
        .init(testDescription: "a name before all others") { scene, _ in
            try scene.link("source/a", to: "source/two")
        },
        .init(testDescription: "a name in a new directory") { scene, _ in
            try scene.build([:], at: "source/new")
            try scene.link("source/new/four", to: "source/two")
        },
        .init(testDescription: "the first name less") { scene, _ in try scene.remove("source/one") },
        .init(testDescription: "one name left") { scene, _ in
            try scene.remove("source/one")
            try scene.remove("source/dir/three")
        },
        .init(testDescription: "a name moved") { scene, _ in
            try scene.move("source/one", to: "source/dir/moved")
        },
        .init(testDescription: "a directory with a name moved") { scene, _ in
            try scene.move("source/dir", to: "source/elsewhere")
        },
        .init(testDescription: "all names are others") { scene, _ in
            for name in ["one", "two", "dir/three"] {
                try scene.move("source/\(name)", to: "source/\(name) renamed")
            }
        },
        .init(testDescription: "split by a copy") { scene, kind in
            try scene.remove("source/two")
            try kind.make("two", in: scene)
        },
        .init(testDescription: "two joined") { scene, _ in
            try scene.remove("source/alone")
            try scene.link("source/alone", to: "source/twin")
        },
        .init(testDescription: "a name goes over to another") { scene, _ in
            try scene.remove("source/two")
            try scene.link("source/two", to: "source/alone")
        },
        .init(testDescription: "time of all") { scene, _ in
            try scene.setTime(TreeTime(1_700_000_000, 4), of: "source/two")
        },
        .init(testDescription: "time of all, and a name less") { scene, _ in
            try scene.setTime(TreeTime(1_700_000_000, 4), of: "source/two")
            try scene.remove("source/one")
        },
        .init(testDescription: "all of it made anew") { scene, kind in
            for name in ["one", "two", "dir/three"] { try scene.remove("source/\(name)") }
            try kind.make("one", in: scene)
            try scene.link("source/two", to: "source/one")
            try scene.link("source/dir/three", to: "source/one")
        },
    ]
}

@Suite("Names of one symlink, pipe or device stay names of one")
struct OtherLinkTests {
    /// A name was removed from the target and came back; an earlier tree has both names of the file.
    @Test(arguments: LinkedKind.possible)
    func aNameThatWasRemovedByHandIsRestoredAsOne(kind: LinkedKind) throws {
        let scene = try MirrorScene([:])
        try kind.make("e", in: scene)
        try scene.link("source/K", to: "source/e")
        try scene.mirror()
        try scene.setTime(TreeTime(1_700_000_000, 0), of: "source/e")
        try scene.mirror()
        try scene.remove("target/K")
        try scene.mirror()
        try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").expect(0)
        var (name, other) = (stat(), stat())
        try #require(
            lstat(scene.path("target/K"), &name) == 0 && lstat(scene.path("target/e"), &other) == 0)
        #expect(name.st_ino == other.st_ino)
    }

    /// `one`, `two` and `dir/three` are one; `alone` and `twin` are the same and not linked.
    private func scene(_ kind: LinkedKind) throws -> MirrorScene {
        let scene = try MirrorScene(["dir": ["x": "x"]], inMemory: true)
        for name in ["one", "alone", "twin"] { try kind.make(name, in: scene) }
        try scene.link("source/two", to: "source/one")
        try scene.link("source/dir/three", to: "source/one")
        return scene
    }

    @Test(arguments: LinkedKind.possible)
    func areMirrored(kind: LinkedKind) throws {
        let scene = try scene(kind)
        try scene.mirrorAll()
        #expect(try scene.status("target/one").st_nlink == 3)
        #expect(try scene.run("manifest", "verify", "target", "target").code == 0)
        #expect(try scene.run("manifest", "diff", "target", "source").code == 0)
        #expect(try scene.apply("--exchange", "--adopt").code == 0)
        try scene.expectAllMirrored()
    }

    @Test(arguments: LinkedKind.possible, OtherLinkChange.all)
    func changesAreMirroredAndUndone(kind: LinkedKind, change: OtherLinkChange) throws {
        let scene = try scene(kind)
        try scene.mirrorAll()
        let before = try scene.wholeState()
        try change.make(scene, kind)
        try scene.mirrorAll()
        try scene.run("snapshot", "restore", "target", "latest~1", "--to", "restored").expect(0)
        #expect(try scene.wholeState("restored").differences(from: before) == [])
        try scene.run("undo", "target").expect(0)
        #expect(try scene.wholeState().differences(from: before) == [])
        try scene.mirrorAll()
    }

    @Test(
        .needs(.strace), arguments: LinkedKind.possible, OtherLinkChange.all)
    func changesAreTakenBackOrFinishedByARecovery(kind: LinkedKind, change: OtherLinkChange) throws {
        let scene = try scene(kind)
        try scene.mirrorAll()
        let before = try scene.wholeState()
        try change.make(scene, kind)
        try scene.expectTakenBackAndFinished(from: before)
    }

    @Test(arguments: LinkedKind.possible)
    func namesThatSomebodyLinkedInTheTargetArePutRight(kind: LinkedKind) throws {
        let scene = try scene(kind)
        try scene.mirrorAll()
        try scene.remove("target/alone")
        try scene.link("target/alone", to: "target/twin")
        try scene.mirrorAll()
        #expect(try scene.status("target/twin").st_nlink == 1)
    }
}
