import FileSystem
import TestSupport
import Testing

struct ExtendedAttributesTests {
    private let files: TemporaryDirectory
    private let file: FileName
    private let directory: Directory
    private let all = ExtendedAttributes.Selection(plain: true, acls: true, privileged: false)

    init() throws {
        files = try TemporaryDirectory()
        directory = try files.open()
        file = try #require(FileName("file".utf8))
        _ = try directory.open(file, [.write, .create], permissions: 0o600)
    }

    private func attributes(_ values: [String: String]) -> ExtendedAttributes {
        ExtendedAttributes(values.map { .init(name: Array($0.utf8), value: Array($1.utf8)) })
    }

    private func set(_ wanted: ExtendedAttributes, _ selection: ExtendedAttributes.Selection? = nil) throws {
        let descriptor = try directory.open(file, [.write])
        #expect(try descriptor.setExtendedAttributes(wanted, over: read(selection)).isEmpty)
    }

    private func read(_ selection: ExtendedAttributes.Selection? = nil) throws -> ExtendedAttributes {
        try directory.open(file, [.read]).extendedAttributes(selection ?? all)
    }

    @Test func whatIsSetIsRead() throws {
        #expect(try read().isEmpty)
        let wanted = attributes(["user.b": "2", "user.a": "", "user.c": String(repeating: "x", count: 1000)])
        try set(wanted)
        #expect(try read() == wanted)
        // In the order of their bytes, in whatever order the file system lists them.
        #expect(try read().attributes.map(\.name) == ["user.a", "user.b", "user.c"].map { Array($0.utf8) })
    }

    @Test func whatIsNotWantedGoes() throws {
        try set(attributes(["user.a": "1", "user.b": "2"]))
        try set(attributes(["user.b": "3"]))
        #expect(try read() == attributes(["user.b": "3"]))
        try set(ExtendedAttributes())
        #expect(try read().isEmpty)
    }

    @Test func whatIsNotSelectedIsLeftAlone() throws {
        try set(attributes(["user.a": "1"]))
        let acls = ExtendedAttributes.Selection(plain: false, acls: true, privileged: false)
        try set(ExtendedAttributes(), acls)
        #expect(try read() == attributes(["user.a": "1"]))
        #expect(try read(acls).isEmpty)
    }

    @Test func aclsAreTold() {
        let acl = ExtendedAttributes.Attribute(name: Array("system.posix_acl_access".utf8), value: [])
        #expect(acl.isACL)
        #expect(!ExtendedAttributes.Attribute(name: Array("user.posix_acl_access".utf8), value: []).isACL)
    }
}
