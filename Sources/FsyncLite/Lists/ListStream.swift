import FileSystem

/// A list, read as a newer one with a layer laid over it: one pass, and another before it where directories moved.
/// Memory holds the layer, and what moved directories hold.
package final class ListStream<Base: EntryStream>: EntryStream {
    private let layer: ListLayer
    private let base: Base
    /// The entries that do not stand in the newer list at their path.
    private let own: PackedList<ListLineCoding>
    private var next = 0
    private var hasBase = false
    /// The directory of the last entry of the newer list, and whether the older list has its content there.
    private var directory: (path: RelativePath, stays: Bool)?
    private var isOwn = false
    private var present: ListEntry?

    /// - Parameter newer: opens the newer list.
    package init(_ layer: ListLayer, over newer: () throws -> Base) throws {
        self.layer = layer
        var own = PackedList<ListLineCoding>()
        for line in layer.lines.values where line.entry != nil { own.append(line) }
        let moved = layer.directories.filter { below, paths in paths.contains { $0 != below } }
        if !moved.isEmpty {
            let pass = try newer()
            while try pass.advance() {
                let path = pass.path
                guard path.ancestors.contains(where: { moved[$0] != nil }) else { continue }
                for older in layer.olderPaths(of: path, moved) where older != path {
                    own.append(ListLine(pass.entry.moved(to: older)))
                }
            }
        }
        own.sort()
        self.own = own
        base = try newer()
    }

    package func advance() throws -> Bool {
        if isOwn { next += 1 } else { try step() }
        let line = next < own.count ? own[next] : nil
        isOwn = line.map { !hasBase || $0.path < base.path } ?? false
        present = isOwn ? line?.entry : hasBase ? base.entry : nil
        return present != nil
    }

    /// Steps to the next entry of the newer list that the older one has there.
    private func step() throws {
        repeat {
            hasBase = try base.advance()
        } while hasBase && !stays(base.path)
    }

    private func stays(_ path: RelativePath) -> Bool {
        guard let parent = path.parent else { return true }
        if directory?.path != parent { directory = (parent, layer.content(of: parent) == parent) }
        return directory?.stays == true && !layer.lines.contains(path)
    }

    private var shown: ListEntry {
        guard let present else { preconditionFailure("no entry before the first or after the last") }
        return present
    }

    package var file: File { shown.file }
    package var path: RelativePath { file.path }
    package var status: FileStatus { file.status }
    package var destination: [UInt8] { file.destination }
    package var extended: ExtendedAttributes { file.extended }
    package var omitted: Omissions { file.omitted }
    package var digest: Digest? { file.digest }
    package var object: UInt64 { shown.object }
    package var marks: EntryMarks { shown.isUncovered ? .uncovered : [] }
}

extension EntryStream {
    fileprivate var entry: ListEntry {
        ListEntry(file, isUncovered: marks.contains(.uncovered))
    }
}
