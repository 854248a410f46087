import TestNeeds
import TestSupport
import Testing

@Suite("Files whose owner the mirror does not keep")
struct KeptOwnerTests {

    private func mode(_ scene: MirrorScene, _ name: String) throws -> UInt32 {
        try scene.status(name).st_mode & 0o7777
    }

    /// Applies. After that there is nothing to do, and the manifest and the plan agree.
    private func applyOnce(
        _ scene: MirrorScene, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try scene.run(["apply", "source", "target"] + options).expect(0, sourceLocation: sourceLocation)
        let again = try scene.run(["plan", "source", "target", "--json"] + options)
        #expect(try again.json().actionLines == [], sourceLocation: sourceLocation)
        try scene.run("manifest", "diff", "target/.fsync-lite/manifest.json", "target").expect(
            0, sourceLocation: sourceLocation)
    }

    @Test(.needs(.root))
    func setuidAndSetgidGoWithTheOwner() throws {
        let scene = try MirrorScene(["theirs": "t", "group": "g", "ours": "o", "dir": ["x": "x"]])
        try scene.setOwner(1234, 4321, of: "source/theirs")
        try scene.setOwner(0, 4321, of: "source/group")
        try scene.setOwner(1234, 4321, of: "source/dir")
        for name in ["theirs", "group", "ours"] { try scene.setMode(0o6755, of: "source/\(name)") }
        try scene.setMode(0o3775, of: "source/dir")
        try applyOnce(scene, "--no-owner")
        #expect(try mode(scene, "target/theirs") == 0o755)
        #expect(try mode(scene, "target/group") == 0o4755)
        #expect(try mode(scene, "target/ours") == 0o6755)
        // On a directory, setgid only gives new files its group. That is no right of the owner.
        #expect(try mode(scene, "target/dir") == 0o3775)
        try scene.setMode(0o6711, of: "source/theirs")
        try applyOnce(scene, "--no-owner")
        #expect(try mode(scene, "target/theirs") == 0o711)
        // The state that an earlier version left.
        try scene.setMode(0o6711, of: "target/theirs")
        #expect(
            try scene.plan("--json", "--no-owner").json().actionLines == ["attributes theirs (mode, drift)"])
        try scene.append("more", to: "source/theirs")
        try scene.setMode(0o6711, of: "source/theirs")
        try applyOnce(scene, "--no-owner")
        #expect(try mode(scene, "target/theirs") == 0o711)
        try scene.mirrorAll()
        #expect(try mode(scene, "target/theirs") == 0o6711)
    }

    /// As in a container. Giving a file away clears setuid, and nothing else is lost.
    @Test(.needs(.root, .tool("setpriv", package: "util-linux"), .tool("setfacl", package: "acl")))
    func rootWithoutTheRightToChangeOthersFiles() throws {
        let scene = try MirrorScene([
            "own": "o", "acl": "a", "d": ["x": "x"], "link": .symlink("own"), "mine": "m",
        ])
        for name in ["own", "acl", "d", "d/x", "link"] { try scene.setOwner(5, 60, of: "source/\(name)") }
        try HostCommand.run("setfacl", "-m", "u:1234:r", scene.path("source/acl"))
        try scene.setMode(0o4755, of: "source/own")
        try scene.setMode(0o3755, of: "source/d")
        for round in 0..<3 {
            let run = try scene.here(
                ["apply", "source", "target"],
                under: ["setpriv", "--bounding-set", "-fowner", "--inh-caps", "-fowner"]
            ).expect(3, says: "own: the target cannot store its permission bits")
            #expect(!run.errors.contains("acl: "), "\(run.errors)")
            #expect(try mode(scene, "target/own") == 0o755)
            #expect(try mode(scene, "target/d") == mode(scene, "source/d"))
            for name in ["own", "acl", "d", "d/x", "link", "mine"] {
                let (one, other) = (try scene.status("source/\(name)"), try scene.status("target/\(name)"))
                #expect((one.st_uid, one.st_gid) == (other.st_uid, other.st_gid), "\(name)")
                #expect(one.st_mtim.tv_sec == other.st_mtim.tv_sec, "\(name)")
            }
            let lists = try ["source", "target"].map {
                try HostCommand.output("getfacl", "-c", scene.path("\($0)/acl"))
            }
            #expect(lists[0] == lists[1])
            if round == 0 {
                try scene.setMode(0o2711, of: "source/d")
                try HostCommand.run("touch", "-h", "-d", "2001-01-01", scene.path("source/link"))
            } else {
                try scene.append("+", to: "source/acl")
            }
        }
    }

    @Test(.needs(.root, .otherUser))
    func setuidOfAnotherIsNotSetuidOfTheUser() throws {
        let scene = try MirrorScene(["theirs": "t", "own": "o"], as: .ordinary)
        try scene.setOwner(1234, 65534, of: "source/theirs")
        for name in ["theirs", "own"] { try scene.setMode(0o6755, of: "source/\(name)") }
        try applyOnce(scene)
        #expect(try mode(scene, "target/theirs") == 0o755)
        #expect(try mode(scene, "target/own") == 0o6755)
    }

    @Test(.needs(.otherUser))
    func thatOwnersAreLeftAloneIsToldOnce() throws {
        let scene = try MirrorScene(["a": "1"], as: .ordinary)
        let note = "note: owners are left unchanged"
        #expect(try scene.mirror().errors.contains(note))
        try scene.append("2", to: "source/a")
        #expect(try !scene.plan().errors.contains(note))
        #expect(try !scene.mirror().errors.contains(note))
    }

    // MARK: In a user namespace

    private static let unshare = ["unshare", "--user", "--map-root-user"]
    private func strangeScene() throws -> MirrorScene {
        let scene = try MirrorScene([
            "theirs": "t", "dir": ["x": "x"], "link": .symlink("x"), "pipe": .fifo(),
        ])
        for name in ["theirs", "dir", "dir/x", "link", "pipe"] {
            try scene.setOwner(1234, 4321, of: "source/\(name)")
        }
        try scene.setMode(0o6755, of: "source/theirs")
        return scene
    }

    private func applyInNamespace(_ scene: MirrorScene, _ options: String...) throws -> CommandRun {
        try scene.here(["apply", "source", "target"] + options, under: Self.unshare)
    }

    @Test(.needs(.userNamespaces))
    func ownersThatANamespaceHasNotAreListedOnce() throws {
        let scene = try strangeScene()
        try applyInNamespace(scene).expect(3, says: "owner")
        #expect(try mode(scene, "target/theirs") == 0o755)
        #expect(try applyInNamespace(scene).output.contains("nothing to do"))
        try scene.build(["new": "n"], at: "source/dir")
        let later = try applyInNamespace(scene)
        #expect(later.code == 0 || later.code == 3, "\(later.errors)")
        #expect(scene.exists("target/dir/new"))
        #expect(try applyInNamespace(scene).output.contains("nothing to do"))
        // Nor are they listed where they are not mirrored.
        try applyInNamespace(scene, "--no-owner").expect(0)
        #expect(try applyInNamespace(scene).code == 3)
    }

    @Test(.needs(.userNamespaces))
    func rootWithSuchAnOwnerIsListedOnce() throws {
        let scene = try MirrorScene(["a": "a"])
        try scene.setOwner(1234, 4321, of: "source")
        #expect(try applyInNamespace(scene).code == 3)
        #expect(try applyInNamespace(scene).output.contains("nothing to do"))
        // The same for an existing target.
        let other = try MirrorScene(["a": "a"])
        #expect(try applyInNamespace(other).code == 0)
        try other.setOwner(1234, 4321, of: "source")
        try other.setOwner(1234, 4321, of: "source/a")
        #expect(try applyInNamespace(other).code == 3)
        #expect(try applyInNamespace(other).output.contains("nothing to do"))
    }

    @Test(.needs(.userNamespaces))
    func withoutOwnersNoneIsSet() throws {
        let scene = try strangeScene()
        for _ in 1...2 {
            try applyInNamespace(scene, "--no-owner").expect(0)
            // A new directory, into which others move.
            try scene.build(["in": [:]], at: "source/more")
            try scene.move("source/dir", to: "source/more/dir")
            try scene.setOwner(1234, 4321, of: "source/more")
            #expect(try applyInNamespace(scene, "--no-owner").code == 0)
            try scene.move("source/more/dir", to: "source/dir")
            try scene.remove("source/more")
        }
    }
    /// Attributes that the target could not store are not tried again when a directory gets new names.
    @Test(.needs(.userNamespaces), arguments: [[], ["--keep-going"], ["--exchange"]])
    func omittedOwnersStayOmittedInLaterRuns(options: [String]) throws {
        let scene = try MirrorScene(["d": ["g": "1"], "f": "1"])
        for name in ["source", "source/d"] { try scene.setOwner(70000, 70000, of: name) }
        func apply() throws -> CommandRun {
            try scene.here(["apply", "source", "target"] + options, under: Self.unshare)
        }
        #expect(try apply().code == 3)
        for round in 1...2 {
            for name in ["f", "d/g"] { try scene.append("more", to: "source/\(name)") }
            try apply().expect(3, says: "owner")
            for name in ["f", "d/g"] {
                #expect(try scene.text("target/\(name)") == scene.text("source/\(name)"))
            }
            try apply().expect(3, prints: "nothing to do", of: "\(round)")
        }
    }

    /// If a namespace does not have the owner of a directory, its root cannot restore the times.
    @Test(.needs(.userNamespaces))
    func directoriesOfOwnersThatANamespaceHasNotAreRefused() throws {
        let scene = try MirrorScene(["d": ["g": "1"]])
        try scene.setOwner(70000, 70000, of: "source/d")
        try scene.mirror()
        try scene.append("2", to: "source/d/g")
        try scene.setMode(0o777, of: "target/d")
        let before = try TreeSnapshot(scene.target)
        try applyInNamespace(scene, "--no-owner").expect(4, says: "target/d: ")
        #expect(try TreeSnapshot(scene.target) == before)
        #expect(try scene.run("status", "target").code == 0)
        try scene.mirror()
        // A user may have this number.
        try scene.setOwner(65534, 65534, of: "source/d")
        try scene.mirror()
        try scene.append("3", to: "source/d/g")
        try scene.mirror()
    }
}
