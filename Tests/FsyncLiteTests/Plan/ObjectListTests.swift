import FileSystem
import Testing

@testable import FsyncLite

/// The objects of a difference are the same as plain values.
struct ObjectListTests {
    @Test func objectsAreMadeOfTheDifference() throws {
        func file(_ name: String, _ inode: UInt64, _ type: FileType = .file) -> File {
            File(path: path(name), status: with(status(type)) { $0.inode = inode }, destination: [])
        }
        var replaced = Match(source: file("a", 1), target: file("a", 2))
        (replaced.causes, replaced.replacesContent) = (.size, true)
        let moved = Match(source: file("d/y", 3), target: file("x", 3))
        let attributes = Attributes(status(.directory))
        let graph = OperationGraph(
            with(Difference()) {
                $0.changes = [
                    .match(replaced), .match(moved), .deleted(file("gone", 5), isDrift: false),
                    .created(file("new", 6, .directory), isDrift: false),
                    .created(file("new/inside", 7), isDrift: false),
                ]
            }, root: (attributes, attributes), transaction: try #require(FileName("t".utf8)),
            replacesManifest: true)
        let displaced = Dictionary(uniqueKeysWithValues: graph.displaced.map { ($0.path, $0.object) })
        let gone = try #require(displaced[path("gone")])
        #expect(graph.objects[gone].seen?.inode == 5 && graph.objects[gone].new == nil)
        #expect(graph.objects[gone].old == OperationGraph.Location(parent: 0, name: FileName("gone")))
        let old = graph.objects[try #require(displaced[path("a")])]
        let staged = try #require(graph.stagedEntries.first { $0.file.path == path("a") }?.object)
        #expect(old.slot == graph.objects[staged].slot && old.old == graph.objects[staged].new)
        #expect(graph.objects[staged].identity == nil)
        let entries = graph.stagedEntries
        for (index, entry) in entries.enumerated() where entry.object == nil {
            let above = try #require(entries.firstIndex { $0.file.path == path("new") })
            #expect(entry.file.path == path("new/inside"))
            #expect(entries.location(at: index) == entries.location(at: above) + "inside")
        }

        var objects = graph.objects
        objects.identify(staged, FileIdentity(inode: 77, created: .now))
        #expect(objects.identity(of: staged)?.inode == 77 && objects.identity(of: gone)?.inode == 5)
        objects.becomeCopy()
        #expect(objects.identity(of: gone) == nil)
        objects.identify(gone, FileIdentity(inode: 78, created: nil))
        #expect(objects[gone].identity == FileIdentity(inode: 78, created: nil))
    }
}
