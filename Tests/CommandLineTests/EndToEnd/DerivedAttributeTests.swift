import TestNeeds
import TestSupport
import Testing

@Suite("Attributes that show something else again")
struct DerivedAttributeTests {
    private static let tree: TreeLiteral = ["file": "f", "dir": ["inside": "i"]]

    /// XFS also shows them as `trusted.SGI_ACL_FILE` and `trusted.SGI_ACL_DEFAULT`. Another file system would
    /// store these names.
    @Test(
        .needs(.xfs), arguments: ["source", "target"])
    func aclsStayWhileAnotherAttributeChangesOnXFS(tree: String) throws {
        let scene = try MirrorScene([:], inMemory: true)
        try scene.build([:], at: "target")
        try scene.mounted(.xfs, at: tree) {
            try scene.build(Self.tree, at: "source")
            try scene.setAttribute(AccessList.access, AttributeChange.readable.bytes, of: "source/file")
            try scene.setAttribute(AccessList.inherited, AttributeChange.inherited.bytes, of: "source/dir")
            try scene.mirrorAll()
            if tree == "source" {
                let names = try HostCommand.output("getfattr", "-m", "-", scene.path("target/file"))
                #expect(names.contains("system.posix_acl_access") && !names.contains("SGI"))
            }
            try scene.setAttribute("user.new", "n", of: "source/file")
            try scene.setAttribute("trusted.new", "n", of: "source/dir")
            #expect(
                try scene.planned().actionLines == ["attributes dir (xattrs)", "attributes file (xattrs)"])
            try scene.mirrorAll()
            try scene.removeAttribute(AccessList.access, of: "source/file")
            #expect(try scene.planned().actionLines == ["attributes file (acls)"])
            try scene.mirrorAll()
        }
    }

    @Test(.needs(.root))
    func evmStaysWithItsObject() throws {
        let scene = try MirrorScene(Self.tree, inMemory: true)
        // A kernel that checks it accepts only its own value.
        let isTaken = (try? scene.setAttribute("security.evm", [2, 1, 1], of: "source/file")) != nil
        guard Need.attribute("security.evm", isTaken).isThere() else { return }
        try scene.setAttribute("security.ima", [1, 1, 1], of: "source/file")
        try scene.mirror()
        let held = try AttributeSnapshot(scene.target)["file"]?.attributes
        #expect(held == [Array("security.ima".utf8): [1, 1, 1]])
        #expect(try scene.apply().output.contains("nothing to do"))
    }
}
