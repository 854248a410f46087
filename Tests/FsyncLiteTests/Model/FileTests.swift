import FileSystem
import Testing

@testable import FsyncLite

struct FileTests {
    @Test func aChangedCopyLeavesTheOther() {
        let file = file("a/b")
        var other = file
        other.omitted = .mode
        other.isGrowing = true
        other.extended = ExtendedAttributes([.init(name: [1], value: [2])])
        #expect(file.omitted == [] && file.extended.isEmpty)
        #expect(other.omitted == .mode && other.isGrowing && other.path == file.path)
        #expect(other.moved(to: path("c")).path == path("c"))
        #expect(other.moved(to: path("c")).extended == other.extended)
        other.extended = ExtendedAttributes()
        (other.omitted, other.isGrowing) = ([], false)
        #expect(other == file)
    }
}
