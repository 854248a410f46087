import FileSystem

/// An older list, read as the newer one with a layer over it. This needs one pass, and one more before it if
/// directories were moved. In memory are the layer and the content of moved directories.
package final class ListStream<Base: EntryStream>: EntryStream {
    private let base: Base
    private let yieldsUncovered: Bool
    private let displaced: Places
    private var walk: LayerWalk
    private var hasBase = false

    /// The entries that are not in the newer list at their path.
    let own: PackedList<ListLineCoding>
    private var nextOwn = 0
    /// The present entry of `own`; nil if the present entry is in the newer list.
    private var entry: ListEntry?
    /// The number of names of each file with a line, by the number of its object.
    private let links: [UInt64: UInt32]

    /// - Parameters:
    ///   - withUncovered: also yields entries that the filters of the older list leave out.
    ///   - displaced: the places of objects in the history. They are yielded even if the filters leave them out.
    ///   - newer: opens the newer list, with uncovered entries.
    package init(
        _ layer: ListLayer, withUncovered: Bool = true, displaced: Places = Places(),
        over newer: () throws -> Base
    ) throws {
        (yieldsUncovered, self.displaced) = (withUncovered, displaced)
        walk = LayerWalk(layer)
        var own = layer.entries
        let moved = layer.movedDirectories
        if !moved.isEmpty {
            let pass = try newer()
            while try pass.advance() {
                let path = pass.path
                guard path.ancestors.contains(where: { moved[$0] != nil }) else { continue }
                for older in layer.olderPaths(of: path, moved) where older != path {
                    own.append(ListLine(pass.listEntry.moved(to: older)))
                }
            }
            own.sort()
        }
        var links: [UInt64: UInt32] = [:]
        for index in own.indices where own.beginning(at: index)?.isMultiplyLinked ?? false {
            guard let file = own[index].entry?.file else { continue }
            links[file.object] = max(links[file.object] ?? 0, file.linkCount)
        }
        // An entry that moved with its directory has the number of names of the newer list. It is corrected here.
        for index in links.isEmpty ? 0..<0 : own.indices {
            guard let count = own.beginning(at: index).flatMap({ links[$0.object] }),
                let entry = own[index].entry,
                entry.file.linkCount < count
            else { continue }
            var status = entry.file.status
            status.links = count
            own[index].entry?.file = entry.file.with(status)
        }
        (self.own, self.links) = (own, links)
        base = try newer()
    }

    package func advance() throws -> Bool {
        repeat {
            if entry != nil { nextOwn += 1 } else { try step() }
            let isOwn =
                nextOwn < own.count && (!hasBase || own.order(nextOwn, comparedTo: base.path) < 0)
            entry = isOwn ? own[nextOwn].entry : nil
            guard isOwn || hasBase else { return false }
        } while !yieldsUncovered && marks.contains(.uncovered)
            && !(entry.map { displaced.hasStored($0.object) } ?? false)
        return true
    }

    /// Steps to the next entry of the newer list that the older one has at the same path.
    private func step() throws {
        repeat {
            hasBase = try base.advance()
        } while hasBase && walk.isElsewhere(base.path)
    }

    package var file: File { (entry?.file ?? base.file).with(status) }
    package var path: RelativePath { entry?.file.path ?? base.path }
    package var status: FileStatus {
        if let entry { return entry.file.status }
        var status = base.status
        if !links.isEmpty, status.type != .directory {
            status.links = max(status.links, links[object] ?? 0)
        }
        return status
    }
    package var destination: [UInt8] { entry?.file.destination ?? base.destination }
    package var extended: ExtendedAttributes { entry?.file.extended ?? base.extended }
    package var omitted: Omissions { entry?.file.omitted ?? base.omitted }
    package var digest: Digest? { entry.map(\.file.digest) ?? base.digest }
    package var object: UInt64 { entry?.object ?? base.object }
    package var marks: EntryMarks {
        if let entry { return entry.isUncovered ? .uncovered : [] }
        return base.marks
    }
    package var targetInode: UInt64 { entry?.file.status.inode ?? base.targetInode }
    package var targetChanged: FileTime? { entry == nil ? base.targetChanged : nil }

    package func withPathBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let entry { return entry.file.path.bytes.withUnsafeBytes(body) }
        return base.withPathBytes(body)
    }

    package var isPresent: Bool { entry == nil }
}

extension EntryStream {
    /// A racy entry has no known change time, because an entry of a list has no such mark.
    var listEntry: ListEntry {
        let file = marks.contains(.racy) ? file.with(status.unexamined) : file
        return ListEntry(file, isUncovered: marks.contains(.uncovered))
    }
}

/// Entries of a part of a list, in memory and sorted.
final class ListedEntries: EntryStream {
    private let lines: PackedList<ListLineCoding>
    private var index = -1
    private(set) var file = File(path: .root, status: EntryRecord().status, destination: [])
    private(set) var marks: EntryMarks = []

    init(_ lines: PackedList<ListLineCoding>) { self.lines = lines }

    func advance() -> Bool {
        index += 1
        guard index < lines.count else { return false }
        if let entry = lines[index].entry {
            (file, marks) = (entry.file, entry.isUncovered ? .uncovered : [])
        }
        return true
    }

    var path: RelativePath { file.path }
    var status: FileStatus { file.status }
    var destination: [UInt8] { file.destination }
    var extended: ExtendedAttributes { file.extended }
    var omitted: Omissions { file.omitted }
    var digest: Digest? { file.digest }
    var object: UInt64 { file.object }
}
