import FileSystem
import TestSupport

@testable import FsyncLite

/// A model of a history, and the layers and places that describe it.
struct ListCourse {
    struct Step {
        let transaction: FileName
        let step: ListLayer
        var hand: ListLayer
        var stored: [StoredObject]
    }

    private(set) var model: HistoryModel
    /// The newest first.
    private var steps: [Step] = []

    init(seed: UInt64) { model = HistoryModel(seed: seed) }

    /// The newest first.
    var layers: [ListLayer] { steps.flatMap { [$0.step, $0.hand] } }

    var documents: [ListDocument] {
        steps.map { step in
            ListDocument(
                ManifestHeader(id: step.transaction.description, root: [], created: .unknown),
                step: step.step,
                hand: step.hand, stored: step.stored)
        }
    }

    /// The paths of all lists, and some that are in none.
    var paths: Set<RelativePath> {
        Set(model.records.flatMap(\.found.keys)).union(model.present.keys).union(
            ["a", "a/b/c", "d/a", "c/d/a/b"].compactMap { RelativePath($0) })
    }

    static func entries(_ list: HistoryModel.List) -> [ListEntry] {
        list.sorted { $0.key < $1.key }.map { path, entry in
            var status = FileStatus(
                type: entry.isDirectory ? .directory : .file, modified: FileTime(seconds: 1, nanoseconds: 0))
            status.permissions = 0o700 + entry.attributes
            return ListEntry(
                File(path: path, status: status, destination: [], object: entry.number))
        }
    }

    mutating func advance() {
        switch model.advance() {
        case .step(let before):
            let found = ListCourse.entries(model.records[0].found)
            let stored = model.records[0].stored.sorted { $0.key < $1.key }.map {
                StoredObject($0.key, $0.value)
            }
            steps.insert(
                Step(
                    transaction: FileName("t\(model.records[0].step)".utf8)!,
                    step: ListLayer(from: ListCourse.entries(model.present), to: found),
                    hand: ListLayer(from: found, to: ListCourse.entries(before)), stored: stored),
                at: 0)
        case .pruned(let index):
            let old = steps.remove(at: index)
            steps[index - 1].hand = old.hand.joined(to: old.step.joined(to: steps[index - 1].hand))
            let named = Set(steps[index - 1].stored.map(\.object))
            steps[index - 1].stored += old.stored.filter { !named.contains($0.object) }.map {
                StoredObject($0.object, $0.place, transaction: $0.transaction ?? old.transaction)
            }
            if index == steps.count { steps[index - 1].hand = ListLayer() }
            let lines = layers.flatMap { $0.lines.values.compactMap { $0.entry?.object } }
            model.sweep(keeping: Set(lines))
        }
    }

    /// The differences from the model.
    func faults() throws -> [String] {
        var faults: [String] = []
        let present = ListCourse.entries(model.present)
        var places = Places()
        for step in steps { places.add(step.stored, of: step.transaction) }
        var layer = ListLayer()
        for (index, (step, record)) in zip(steps, model.records).enumerated() {
            layer = step.step.joined(to: layer)
            let expected = ListCourse.entries(record.found)
            let stream = try ListStream(layer) { FileList(present.map(\.file)) }
            var read: [ListEntry] = []
            while try stream.advance() { read.append(ListEntry(stream.file)) }
            if read != expected { faults.append("list \(index) is \(read), not \(expected)") }
            for (path, entry) in record.found where self[path, index] != entry.number {
                faults.append("\(path) of list \(index) is \(String(describing: self[path, index]))")
            }
            for number in Set(record.found.values.map(\.number)).subtracting(model.destroyed) {
                let place = places.place(of: number) { wanted in
                    model.present.filter { $0.value.number == wanted }.keys.min()
                }
                if try self.number(at: place) != number {
                    faults.append("\(number) of list \(index) is not at \(String(describing: place))")
                }
            }
            layer = step.hand.joined(to: layer)
        }
        return faults
    }

    /// The number that a list has at a path, found by its layers.
    private subscript(path: RelativePath, index: Int) -> UInt64? {
        var path = path
        for layer in steps[...index].flatMap({ [$0.step, $0.hand] }).dropLast().reversed() {
            switch layer.resolve(path) {
            case .entry(let entry): return entry?.object
            case .newer(let there): path = there
            }
        }
        return model.present[path]?.number
    }

    private func number(at place: Places.Place?) throws -> UInt64? {
        switch place {
        case .tree(let path): return model.number(at: path)
        case .history(let path):
            let names = path.components.map { String(decoding: $0, as: UTF8.self) }
            guard let step = Int(names[0].dropFirst()), let slot = Int(names[2]) else { return nil }
            let rest = names.dropFirst(3).joined(separator: "/")
            return model.number(inSlot: slot, of: step, at: RelativePath(rest) ?? .root)
        case nil: return nil
        }
    }
}

extension ListLayer {
    /// The layer from a newer list to an older one. Both are in the order of their paths.
    init(from newer: [ListEntry], to older: [ListEntry]) {
        self.init()
        let entries = Dictionary(uniqueKeysWithValues: newer.lazy.map { ($0.file.path, $0) })
        let there = Set(older.lazy.map(\.file.path))
        let moved = Dictionary(
            newer.lazy.filter(\.file.isDirectory).map { ($0.object, $0.file.path) },
            uniquingKeysWith: { first, _ in first })
        // For each directory of the older list, the one of the newer list with its content; and the reverse.
        var content: [RelativePath: RelativePath] = [.root: .root]
        var directories: [RelativePath: [RelativePath]] = [.root: [.root]]
        for entry in older {
            let path = entry.file.path
            guard let parent = path.parent, let name = path.fileName else { continue }
            var below = content[parent]?.appending(name)
            if below.flatMap({ entries[$0] })?.moved(to: path) != entry {
                below = entry.file.isDirectory ? moved[entry.object] : nil
                add(ListLine(entry, below: below))
            }
            if entry.file.isDirectory, let below {
                content[path] = below
                directories[below, default: []].append(path)
            }
        }
        for entry in newer {
            guard let parent = entry.file.path.parent, let name = entry.file.path.fileName else { continue }
            for directory in directories[parent] ?? [] where !there.contains(directory.appending(name)) {
                add(ListLine(absent: directory.appending(name)))
            }
        }
    }
}
