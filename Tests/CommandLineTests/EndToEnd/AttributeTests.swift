import Glibc
import TestNeeds
import TestSupport
import Testing

private let isRoot = geteuid() == 0

/// A change of attributes that somebody makes in a tree.
struct AttributeChange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let name: String
    let causes: String
    /// The option that makes the change no difference.
    let option: String?
    let needsRoot: Bool
    /// Its arguments are the scene and the path in it.
    let change: @Sendable (MirrorScene, String) throws -> Void

    /// - Parameters:
    ///   - name: the attribute that changes.
    ///   - causes: of the action that follows, without drift.
    init(
        _ description: String, of name: String, _ causes: String, needsRoot: Bool = false,
        change: @escaping @Sendable (MirrorScene, String) throws -> Void
    ) {
        (testDescription, self.name, self.causes) = (description, name, causes)
        let options = [
            "owner": "--no-owner", "group": "--no-owner", "xattrs": "--no-xattrs", "acls": "--no-acls",
        ]
        option = causes.split(separator: ",").first.flatMap { options[String($0)] }
        (self.needsRoot, self.change) = (needsRoot, change)
    }

    func make(_ scene: MirrorScene, _ tree: String) throws { try change(scene, "\(tree)/\(name)") }

    /// The action that follows, without drift.
    var action: String {
        "\(causes == "modified" && name == "file" ? "update" : "attributes") \(name) (\(causes))"
    }

    static let readable = AccessList(owner: 6, users: [1234: 4], group: 4, mask: 4, others: 4)
    static let inherited = AccessList(owner: 7, users: [1234: 7, 99: 5], group: 5, mask: 7, others: 0)

    /// The tree in which the changes are made.
    static let tree: TreeLiteral = [
        "file": "f", "dressed": "d", "dir": ["inside": "i"], "link": .symlink("file"), "pipe": .fifo(),
    ]

    static func dress(_ scene: MirrorScene) throws {
        for name in ["source/dressed", "source/dir"] {
            try scene.setAttribute("user.present", "here", of: name)
            try scene.setAttribute("user.other", "too", of: name)
        }
        try scene.setAttribute(AccessList.access, readable.bytes, of: "source/dressed")
        try scene.setAttribute(AccessList.inherited, inherited.bytes, of: "source/dir")
    }

    static let all: [AttributeChange] = [
        .init("setuid", of: "file", "mode") { try $0.setMode(0o4755, of: $1) },
        .init("setgid and sticky", of: "dir", "mode") { try $0.setMode(0o3775, of: $1) },
        .init("mode of a FIFO", of: "pipe", "mode") { try $0.setMode(0o6, of: $1) },
        .init("a nanosecond of a file", of: "file", "modified") {
            var time = TreeTime(try $0.status($1).st_mtim)
            time.nanoseconds ^= 1
            try $0.setTime(time, of: $1)
        },
        .init("time of a directory", of: "dir", "modified") {
            try $0.setTime(TreeTime(-5, 999_999_999), of: $1)
        },
        .init("time of a symlink", of: "link", "modified") {
            try $0.setTime(TreeTime(5_000_000_000, 1), of: $1)
        },
        .init("time of a FIFO", of: "pipe", "modified") { try $0.setTime(TreeTime(1, 1), of: $1) },
        .init("owner of a file", of: "file", "owner, group", needsRoot: true) {
            try $0.setOwner(1234, 4321, of: $1)
        },
        .init("group of a directory", of: "dir", "group", needsRoot: true) {
            try $0.setOwner(0, 7, of: $1)
        },
        .init("owner of a symlink", of: "link", "owner", needsRoot: true) {
            try $0.setOwner(4_000_000_000, 0, of: $1)
        },
        .init("a first xattr", of: "file", "xattrs") { try $0.setAttribute("user.new", "n", of: $1) },
        .init("one more xattr", of: "dressed", "xattrs") { try $0.setAttribute("user.new", "n", of: $1) },
        .init("another value", of: "dressed", "xattrs") {
            try $0.setAttribute("user.present", "HERE", of: $1)
        },
        .init("an xattr less", of: "dressed", "xattrs") { try $0.removeAttribute("user.present", of: $1) },
        .init("an empty value", of: "dressed", "xattrs") { try $0.setAttribute("user.other", "", of: $1) },
        .init("a value of all bytes", of: "file", "xattrs") {
            try $0.setAttribute("user.bytes", Array(0...255), of: $1)
        },
        .init("names that are no UTF-8", of: "file", "xattrs") {
            try $0.setAttribute(TreeName(Array("user.".utf8) + [0xFF, 0x80]), "1", of: $1)
            try $0.setAttribute(TreeName(Array("user.\u{E9}\"\n".utf8)), "2", of: $1)
            try $0.setAttribute(TreeName(Array("user.e\u{301}\"\n".utf8)), "3", of: $1)
        },
        .init("a large value", of: "file", "xattrs") {
            try $0.setAttribute("user.large", Array(repeating: 7, count: 3000), of: $1)
        },
        .init("a longest name", of: "file", "xattrs") {
            let name = Array("user.".utf8) + Array(repeating: UInt8(ascii: "n"), count: 250)
            try $0.setAttribute(TreeName(name), "1", of: $1)
        },
        .init("xattr of a directory", of: "dir", "xattrs") { try $0.removeAttribute("user.other", of: $1) },
        .init("trusted xattr", of: "file", "xattrs", needsRoot: true) {
            try $0.setAttribute("trusted.t", "t", of: $1)
        },
        .init("trusted xattr of a symlink", of: "link", "xattrs", needsRoot: true) {
            try $0.setAttribute("trusted.t", "t", of: $1)
        },
        .init("trusted xattr of a FIFO", of: "pipe", "xattrs", needsRoot: true) {
            try $0.setAttribute("trusted.t", "t", of: $1)
        },
        .init("capabilities", of: "file", "xattrs", needsRoot: true) { try $0.setCapabilities(of: $1) },
        .init("a first ACL", of: "file", "acls") {
            try $0.setAttribute(AccessList.access, readable.bytes, of: $1)
        },
        .init("another ACL", of: "dressed", "acls") {
            let list = AccessList(owner: 6, users: [1234: 0, 5: 4], group: 0, mask: 4, others: 4)
            try $0.setAttribute(AccessList.access, list.bytes, of: $1)
        },
        .init("no ACL any more", of: "dressed", "acls") { try $0.removeAttribute(AccessList.access, of: $1) },
        .init("mask of an ACL by chmod", of: "dressed", "mode, acls") { try $0.setMode(0o604, of: $1) },
        .init("default ACL", of: "dir", "acls") {
            let list = AccessList(owner: 7, users: [4: 7], group: 5, mask: 7, others: 5)
            try $0.setAttribute(AccessList.inherited, list.bytes, of: $1)
        },
        .init("no default ACL any more", of: "dir", "acls") {
            try $0.removeAttribute(AccessList.inherited, of: $1)
        },
    ]

    static var possible: [AttributeChange] { all.filter { isRoot || !$0.needsRoot } }
    static var options: [String] { Set(possible.compactMap(\.option)).sorted() }
}

extension MirrorScene {
    /// Sets `cap_net_raw+ep` without a tool.
    func setCapabilities(of name: String) throws {
        let value: [UInt8] = [1, 0, 0, 2, 0, 0x20] + Array(repeating: 0, count: 14)
        try setAttribute("security.capability", value, of: name)
    }
}

@Suite("Every attribute is mirrored")
struct AttributeTests {
    private func dressedScene() throws -> MirrorScene {
        let scene = try MirrorScene(AttributeChange.tree)
        try AttributeChange.dress(scene)
        #expect(try scene.apply().code == 0)
        return scene
    }

    /// The change is shown with its cause and mirrored. In the target it is drift, and is repaired.
    @Test(arguments: AttributeChange.possible)
    func changeShowsItsCauseAndIsMirrored(change: AttributeChange) throws {
        let scene = try dressedScene()
        try change.make(scene, "source")
        #expect(try scene.planned().actionLines == [change.action])
        try scene.mirrorAll()
        let other = try dressedScene()
        try change.make(other, "target")
        #expect(try other.planned().actionLines == [change.action.replacing(")", with: ", drift)")])
        try other.mirrorAll()
    }

    @Test(.needs(.strace))
    func changesAreTakenBack() throws {
        let scene = try dressedScene()
        let before = try scene.wholeState()
        for change in AttributeChange.possible { try change.make(scene, "source") }
        try scene.takenBackApply()
        #expect(try scene.wholeState().differences(from: before) == [])
        try scene.mirrorAll()
    }

    @Test(arguments: AttributeChange.options)
    func changesAreNeitherShownNorMadeWhileSwitchedOff(option: String) throws {
        let scene = try dressedScene()
        let before = try scene.wholeState()
        for change in AttributeChange.possible where change.option == option {
            try change.make(scene, "source")
        }
        #expect(try scene.plan("--json", option).json().actionLines == [])
        #expect(try scene.apply(option).code == 0)
        #expect(try scene.wholeState().differences(from: before) == [])
        #expect(try !scene.planned().actionLines.isEmpty)
        try scene.mirrorAll()
        // Drift of it is left unchanged, too.
        let other = try dressedScene()
        for change in AttributeChange.possible where change.option == option {
            try change.make(other, "target")
        }
        #expect(try other.plan("--json", option).json().actionLines == [])
        try other.mirrorAll()
    }

    // MARK: What is switched off stays as the target has it

    /// Another change of an object does not mirror attributes that are switched off.
    @Test func aclsOfTheTargetAreLeftAloneWhileAnXattrIsMirrored() throws {
        let scene = try dressedScene()
        try scene.setAttribute("user.present", "changed", of: "source/dressed")
        try scene.setAttribute("user.present", "changed", of: "source/dir")
        let theirs = AccessList(owner: 6, users: [77: 4], group: 4, mask: 4, others: 4)
        try scene.setAttribute(AccessList.access, theirs.bytes, of: "target/dressed")
        let before = try AttributeSnapshot(scene.target)
        #expect(try scene.apply("--no-acls").code == 0)
        let after = try AttributeSnapshot(scene.target)
        for name in ["dressed", "dir"] {
            let value = { (snapshot: AttributeSnapshot) in
                snapshot[name]?.attributes.filter { $0.key.starts(with: "system.".utf8) }
            }
            #expect(value(after) == value(before), "\(name)")
        }
        #expect(after["dressed"]?.attributes[Array("user.present".utf8)] == Array("changed".utf8))
        try scene.mirrorAll()
    }

    @Test func xattrsOfTheTargetAreLeftAloneWhileAnACLIsMirrored() throws {
        let scene = try dressedScene()
        try scene.removeAttribute(AccessList.access, of: "source/dressed")
        try scene.setAttribute("user.theirs", "kept", of: "target/dressed")
        #expect(try scene.apply("--no-xattrs").code == 0)
        let attributes = try AttributeSnapshot(scene.target)["dressed"]?.attributes ?? [:]
        #expect(attributes[Array("user.theirs".utf8)] == Array("kept".utf8))
        #expect(attributes[Array("user.present".utf8)] == Array("here".utf8))
        #expect(attributes[AccessList.access.bytes] == nil)
        try scene.mirrorAll()
    }

    @Test(.needs(.strace))
    func whatIsSwitchedOffIsLeftAloneByACommitThatIsTakenBack() throws {
        let scene = try dressedScene()
        try scene.setAttribute("user.present", "changed", of: "source/dressed")
        let before = try scene.wholeState()
        try scene.takenBackApply("--no-acls")
        let differences = try scene.wholeState().differences(from: before)
        #expect(differences == [])
    }

    /// The manifest and the history record which attributes a run leaves unchanged.
    @Test(arguments: [["--no-acls"], ["--no-xattrs"], ["--no-acls", "--no-xattrs"]])
    func earlierTreesKeepWhatIsSwitchedOffLater(options: [String]) throws {
        let scene = try dressedScene()
        try scene.mirrorAll()
        let wanted = try AttributeSnapshot(scene.target)
        let apply = ["apply", "source", "target"] + options
        #expect(try scene.run(apply).code == 0)
        try scene.append("more", to: "source/file")
        try scene.build(["new": "new"], at: "source/dir")
        #expect(try scene.run(apply).code == 0)
        #expect(try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy").code == 0)
        #expect(try AttributeSnapshot(scene.path("copy")).differences(from: wanted) == [])
        let present = try AttributeSnapshot(scene.target)
        for _ in 1...2 {
            try scene.run("undo", "target").expect(0)
        }
        #expect(try AttributeSnapshot(scene.target).differences(from: present) == [])
        try scene.run("snapshot", "restore", "target", "latest~4", "--in-place").expect(0)
        #expect(try AttributeSnapshot(scene.target).differences(from: wanted) == [])
    }

    // MARK: In company

    @Test(.needs(.root))
    func capabilitiesOutliveAChangeOfOwner() throws {
        let scene = try dressedScene()
        try scene.setCapabilities(of: "source/file")
        try scene.setMode(0o6755, of: "source/file")
        try scene.mirrorAll()
        // The kernel removes both with the owner, and somebody sets them again.
        try scene.setOwner(1234, 4321, of: "source/file")
        try scene.setCapabilities(of: "source/file")
        try scene.setMode(0o6755, of: "source/file")
        #expect(try scene.apply().code == 0)
        try scene.expectAllMirrored()
    }

    @Test(.needs(.root, .strace))
    func capabilitiesAndSetuidComeBackWithACommitThatIsTakenBack() throws {
        let scene = try dressedScene()
        try scene.setMode(0o6755, of: "source/file")
        try scene.setCapabilities(of: "source/file")
        try scene.mirrorAll()
        let before = try scene.wholeState()
        try scene.setOwner(1234, 4321, of: "source/file")
        try scene.takenBackApply()
        #expect(try scene.wholeState().differences(from: before) == [])
    }

    @Test func valuesThatTradeTheirSizesFit() throws {
        let scene = try dressedScene()
        func set(_ a: Int, _ b: Int) throws {
            // The attribute that becomes shorter comes first.
            let (first, second): ((TreeName, Int), (TreeName, Int)) =
                a < b ? (("user.a", a), ("user.b", b)) : (("user.b", b), ("user.a", a))
            for (name, count) in [first, second] {
                try scene.setAttribute(name, Array(repeating: 1, count: count), of: "source/file")
            }
        }
        try set(10, 3000)
        try scene.mirrorAll()
        try set(3000, 10)
        try scene.mirrorAll()
    }

    @Test func editedFileKeepsItsAttributes() throws {
        let scene = try dressedScene()
        try scene.append("more", to: "source/dressed")
        #expect(try scene.planned().actionLines == ["update dressed (size, modified)"])
        try scene.mirrorAll()
    }

    @Test func attributesGoAlongWithMovesAndCopies() throws {
        let scene = try dressedScene()
        try scene.move("source/dressed", to: "source/dir/moved")
        try scene.move("source/dir", to: "source/dir renamed")
        try scene.build(["new": ["deep": ["file": "new"]]], at: "source/made")
        for name in ["source/made", "source/made/new", "source/made/new/deep", "source/made/new/deep/file"] {
            try scene.setAttribute("user.new", "new", of: name)
        }
        try scene.setAttribute(AccessList.inherited, AttributeChange.inherited.bytes, of: "source/made/new")
        try scene.setAttribute("user.late", "changed", of: "source/dir renamed/moved")
        try scene.mirrorAll()
    }

    @Test func attributesOfTheRootAreMirrored() throws {
        let scene = try dressedScene()
        try scene.setAttribute("user.root", "r", of: "source")
        try scene.setAttribute(AccessList.inherited, AttributeChange.inherited.bytes, of: "source")
        try scene.setMode(0o1750, of: "source")
        #expect(try scene.planned().actionLines == ["attributes . (mode, xattrs, acls)"])
        try scene.mirrorAll()
        try scene.removeAttribute("user.root", of: "target")
        try scene.mirrorAll()
        try scene.removeAttribute(AccessList.inherited, of: "source")
        try scene.mirrorAll()
    }

    @Test func aclsOfTheTargetsRootDoNotLeakIntoTheMirror() throws {
        let scene = try MirrorScene(AttributeChange.tree)
        try AttributeChange.dress(scene)
        try scene.build([:], at: "target")
        try scene.setAttribute(AccessList.inherited, AttributeChange.inherited.bytes, of: "target")
        #expect(try scene.mirrorAll().output.contains("created"))
        // Somebody sets it again, so new entries below it inherit it.
        try scene.setAttribute(AccessList.inherited, AttributeChange.inherited.bytes, of: "target")
        try scene.build(["later": ["file": "l"], "file": "edited"], at: "source")
        try scene.mirrorAll()
        try scene.setAttribute(AccessList.inherited, AttributeChange.inherited.bytes, of: "target/dir")
        try scene.build(["later": ["file": "l"], "inside": "edited", "pipe": .fifo()], at: "source/dir")
        try scene.mirrorAll()
    }

    @Test func aclsOfWhatHoldsTheTargetDoNotLeakIntoIt() throws {
        let scene = try MirrorScene(AttributeChange.tree)
        try scene.setAttribute(AccessList.inherited, AttributeChange.inherited.bytes, of: "")
        #expect(try scene.apply().code == 0)
        try scene.expectAllMirrored()
        #expect(try scene.apply().output.contains("nothing to do"))
    }

    @Test func manifestTellsOfAttributes() throws {
        let scene = try dressedScene()
        try scene.setAttribute("user.new", "n", of: "source/file")
        let difference = try scene.run("manifest", "diff", "--json", "target", "source")
        let lines = try difference.json().actionLines
        #expect(difference.code == 2, "\(difference.errors)")
        #expect(lines == ["attributes file (xattrs)"])
    }

    // MARK: Nodes

    @Test(.needs(.root))
    func devicesAndFIFOsAreMirrored() throws {
        let scene = try MirrorScene(["pipe": .fifo(mode: 0o622), "d": [:]])
        func make(_ name: String, _ kind: UInt32, _ major: Int, _ minor: Int) throws {
            try HostCommand.run(
                "mknod", scene.path("source/\(name)"), kind == S_IFCHR ? "c" : "b", "\(major)", "\(minor)")
        }
        try make("null", S_IFCHR, 1, 3)
        try make("d/disk", S_IFBLK, 259, 70_000)
        try scene.setMode(0o2660, of: "source/null")
        try scene.mirrorAll()
        try scene.remove("source/null")
        try make("null", S_IFCHR, 1, 5)
        try scene.setMode(0o2660, of: "source/null")
        let action = try #require(try scene.planned().objects("actions").first { $0.text("path") == "null" })
        #expect(action.text("action") == "update")
        #expect(action.texts("causes").contains("device"))
        try scene.mirrorAll()
        try scene.move("source/null", to: "source/d/zero")
        try scene.setOwner(5, 6, of: "source/d/zero")
        try scene.mirrorAll()
    }
}
