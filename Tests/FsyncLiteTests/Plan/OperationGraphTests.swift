import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

/// The operations of small differences, as text. A number is an object.
struct OperationGraphTests {
    private func renamed(_ name: String, to other: String, _ inode: UInt64, _ type: FileType = .file) -> Match
    {
        with(Match(source: file(other, inode, type), target: file(name, inode, type))) {
            $0.causes = .renamed
        }
    }

    private func layout(
        isWeak: Bool = false, _ change: (inout Difference) -> Void
    ) throws -> OperationGraph {
        let attributes = Attributes(status(.directory))
        return OperationGraph(
            with(Difference(), change), root: (attributes, attributes),
            transaction: try #require(FileName("t".utf8)), replacesManifest: true, isWeak: isWeak)
    }

    /// The operations, by the name that an object has or will have.
    private func operations(_ layout: OperationGraph) -> [String] {
        func name(_ place: OperationGraph.Location?) -> String? { place.map { $0.name.description } }
        func text(_ number: Int) -> String {
            let object = layout.objects[number]
            return name(object.old) ?? name(object.new) ?? "?"
        }
        return layout.treeOperations.map {
            switch $0 {
            case .detach(let object): "detach \(text(object))"
            case .attach(let object): "attach \(name(layout.objects[object].new) ?? "?")"
            case .exchange(let object, let other): "exchange \(text(object)) with \(text(other))"
            case .rename(let object): "rename \(text(object))"
            case .link(let link): "link \(link.location.name)"
            }
        }
    }

    @Test func inAWeakCommitAllThatLeavesHasLeftBeforeAnythingArrives() throws {
        let layout = try layout(isWeak: true) {
            $0.changes = [
                .match(renamed("b", to: "a", 2)), .match(renamed("a", to: "b", 1)),
                .match(
                    with(Match(source: file("edited", 3), target: file("edited", 3))) {
                        ($0.causes, $0.replacesContent) = (.content, true)
                    }),
                .created(file("new", 4), isDrift: false),
            ]
        }
        let kinds = layout.operations.map { operation in
            switch operation {
            case .detach: "leaves"
            case .attach: "arrives"
            default: operation == .rename(OperationGraph.transaction) ? "is kept" : "moves"
            }
        }
        #expect(
            kinds.reduce(into: []) { if $0.last != $1 { $0.append($1) } } == ["leaves", "arrives", "is kept"])
        // The old manifest, `a`, `b` and a replaced object leave. Then the new manifest and two files arrive.
        #expect(kinds.count { $0 == "leaves" } == 4)
        let slots = layout.objects.indices.compactMap { layout.objects.slot($0) }
        #expect(Set(slots).count == slots.count)
    }

    @Test func everythingLeavesBeforeAnythingArrives() throws {
        let layout = try layout {
            $0.changes = [
                .match(renamed("b", to: "a", 4)), .match(renamed("a", to: "b", 3)),
                .match(renamed("d", to: "e", 1, .directory)), .match(renamed("d/x", to: "e/y", 2)),
                .deleted(file("gone", 5), isDrift: false), .created(file("new", 6), isDrift: false),
            ]
        }
        // The deepest one leaves first, and arrives last.
        #expect(
            operations(layout) == [
                "detach gone", "detach x", "detach d", "detach b", "detach a", "attach a", "attach b",
                "attach e",
                "attach y", "attach new",
            ])
    }

    @Test func aNewFileTakesTheOldOnesPlaceInOneStep() throws {
        let layout = try layout {
            var match = Match(source: file("a", 1), target: file("a", 1))
            (match.causes, match.replacesContent) = (.size, true)
            $0.changes = [.match(match)]
        }
        #expect(operations(layout) == ["exchange a with a"])
        #expect(layout.displaced.map(\.path) == [path("a")])
    }

    /// An object that moves with its directory has no operation.
    @Test func aDirectoryTakesItsEntriesAlong() throws {
        let layout = try layout {
            $0.changes = [
                .match(renamed("d", to: "e", 1, .directory)), .match(renamed("d/x", to: "e/x", 2)),
            ]
        }
        #expect(operations(layout) == ["detach d", "attach e"])
        let other = try self.layout {
            $0.changes = [
                .match(renamed("d", to: "e", 1, .directory)), .match(renamed("d/x", to: "e/other", 2)),
            ]
        }
        #expect(operations(other) == ["detach x", "detach d", "attach e", "attach other"])
    }

    /// Its `..` changes, which XFS treats as a modification. Leaving and arriving entries modify it as well.
    @Test func directoriesGetTheirTimesBack() throws {
        let layout = try layout {
            $0.changes = [.match(renamed("p/d", to: "q/d", 1, .directory))]
        }
        let names = layout.attributes.map { layout.objects[$0.object].old?.name.description ?? "." }
        #expect(Set(names) == ["d", "p", "q", "."])
        #expect(names.first == "d" && names.last == ".")
    }

    /// The objects of a difference are the same as plain values.
    @Test func objectsAreMadeOfTheDifference() throws {
        let graph = try layout {
            var replaced = Match(source: file("a", 1), target: file("a", 2))
            (replaced.causes, replaced.replacesContent) = (.size, true)
            $0.changes = [
                .match(replaced), .match(Match(source: file("d/y", 3), target: file("x", 3))),
                .deleted(file("gone", 5), isDrift: false),
                .created(file("new", 6, .directory), isDrift: false),
                .created(file("new/inside", 7), isDrift: false),
            ]
        }
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

    @Test func whatIsDeletedGoesWithItsDirectory() throws {
        let layout = try layout {
            $0.changes = [
                .deleted(file("d", 1, .directory), isDrift: false), .deleted(file("d/x", 2), isDrift: false),
            ]
        }
        #expect(operations(layout) == ["detach d"])
        #expect(layout.displaced.map(\.path) == [path("d")])
    }
}
