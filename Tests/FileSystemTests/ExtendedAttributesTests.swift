import FileSystem
import Testing

struct ExtendedAttributesTests {
    @Test func aclsAreTold() {
        let acl = ExtendedAttributes.Attribute(name: Array("system.posix_acl_access".utf8), value: [])
        #expect(acl.isACL)
        #expect(!ExtendedAttributes.Attribute(name: Array("user.posix_acl_access".utf8), value: []).isACL)
    }
}
