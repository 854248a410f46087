import FileSystem
import TestSupport

@testable import FsyncLite

/// A model of a target's history, to judge the real one: a tree and the slots of its history in memory. It
/// stores every list in full, and the number of each object. It does not know layers.
struct HistoryModel: Sendable {
    struct Entry: Hashable, Sendable {
        var isDirectory: Bool
        var number: UInt64
        var attributes: UInt16
    }

    typealias List = [RelativePath: Entry]

    struct Record: Sendable {
        let step: Int
        /// The list that the step found.
        let found: List
        /// The objects that the run moved into the history, by number.
        var stored: [UInt64: StoredObject.Place] = [:]
    }

    enum Event: Sendable {
        /// A run: the newest record is new. `before` is the list that the run before it left.
        case step(before: List)
        /// A record was removed.
        case pruned(Int)
    }

    private struct Object {
        let isDirectory: Bool
        var entries: [FileName: Int] = [:]
        var content: UInt64
        var number: UInt64?
        var attributes: UInt16 = 0
        /// The content when it got its number.
        var numbered: UInt64?
    }

    private struct Slot: Hashable {
        let step: Int
        let number: Int
    }

    /// Object 0 is the root.
    private var objects: [Int: Object] = [0: Object(isDirectory: true, content: 0)]
    private var slots: [Slot: Int] = [:]
    private var generator: SplitMix64
    private var nextObject = 1
    private var nextNumber: UInt64 = 1
    private var nextStep = 1
    /// The list that the last run left.
    private(set) var present: List = [:]
    /// The newest first.
    private(set) var records: [Record] = []
    /// The objects that were removed or overwritten by hand.
    private(set) var destroyed: Set<UInt64> = []

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
        edit(6)
    }

    /// Makes a random event happen.
    mutating func advance() -> Event {
        let kind = random(10)
        // The run finds changes by hand.
        if kind != 8, generator.oneIn(3) { edit(2) }
        switch kind {
        case 4...5 where !records.isEmpty:
            return .step(before: restore(records[0].found))
        case 6...7 where !records.isEmpty:
            return .step(before: restore(records[random(records.count)].found))
        case 8 where records.count > 1:
            let index = 1 + random(records.count - 1)
            records.remove(at: index)
            return .pruned(index)
        default: return .step(before: apply())
        }
    }

    private mutating func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    private mutating func randomName() -> FileName {
        [FileName("a"), FileName("b"), FileName("c"), FileName("d")][random(4)]
    }

    // MARK: The tree

    private func object(_ id: Int) -> Object {
        guard let object = objects[id] else { preconditionFailure("no object \(id)") }
        return object
    }

    /// All names below a directory, in order.
    private func names(below id: Int, _ path: RelativePath = .root) -> [(path: RelativePath, id: Int)] {
        object(id).entries.sorted { $0.key < $1.key }.flatMap { name, child in
            [(path.appending(name), child)] + names(below: child, path.appending(name))
        }
    }

    private func id(at path: RelativePath, below start: Int? = 0) -> Int? {
        path.components.reduce(start) { id, name in id.flatMap { object($0).entries[FileName(name)!] } }
    }

    private mutating func make(isDirectory: Bool) -> Int {
        defer { nextObject += 1 }
        objects[nextObject] = Object(isDirectory: isDirectory, content: generator.next())
        return nextObject
    }

    private var numbersInTree: Set<UInt64> { Set(names(below: 0).compactMap { object($0.id).number }) }

    /// Changes by hand.
    private mutating func edit(_ count: Int) {
        let before = numbersInTree
        for _ in 0..<count {
            let all = names(below: 0)
            let directories =
                [0] + all.filter { object($0.id).isDirectory && $0.path.components.count < 4 }.map(\.id)
            let (directory, name) = (directories[random(directories.count)], randomName())
            let kind = random(8)
            if kind < 2 {
                if object(directory).entries[name] == nil {
                    let id = make(isDirectory: generator.oneIn(2))
                    objects[directory]?.entries[name] = id
                }
                continue
            }
            guard !all.isEmpty else { continue }
            let (path, id) = all[random(all.count)]
            let isFree = object(directory).entries[name] == nil
            switch kind {
            case 2: remove(path)
            case 3...4 where isFree && id != directory && !names(below: id).contains { $0.id == directory }:
                remove(path)
                objects[directory]?.entries[name] = id
            case 5 where !object(id).isDirectory: write(id)
            case 6 where isFree && !object(id).isDirectory: objects[directory]?.entries[name] = id
            default: mark(id)
            }
        }
        destroyed.formUnion(before.subtracting(numbersInTree))
    }

    private mutating func write(_ id: Int) {
        let content = generator.next()
        objects[id]?.content = content
    }

    private mutating func mark(_ id: Int) {
        let attributes = UInt16(random(3))
        objects[id]?.attributes = attributes
    }

    private mutating func remove(_ path: RelativePath) {
        guard let parent = path.parent.flatMap({ id(at: $0) }), let name = path.fileName else { return }
        objects[parent]?.entries[name] = nil
    }

    /// The list of the tree. New objects get numbers.
    private mutating func look() -> List {
        var list: List = [:]
        for (path, id) in names(below: 0) {
            var object = object(id)
            if object.number == nil || !object.isDirectory && object.content != object.numbered {
                if let number = object.number { destroyed.insert(number) }
                (object.number, object.numbered) = (nextNumber, object.content)
                nextNumber += 1
                objects[id] = object
            }
            list[path] = Entry(
                isDirectory: object.isDirectory, number: object.number!, attributes: object.attributes)
        }
        return list
    }

    // MARK: Steps

    /// The object that should be at a path: an existing one, or a new one.
    private enum Wanted {
        case object(Int)
        case new(isDirectory: Bool)
    }

    private mutating func apply() -> List {
        var wanted: [RelativePath: Wanted] = [:]
        for (path, id) in names(below: 0) { wanted[path] = .object(id) }
        func isDirectory(_ wanted: Wanted?) -> Bool {
            switch wanted {
            case .object(let id): object(id).isDirectory
            case .new(let isDirectory): isDirectory
            case nil: false
            }
        }
        for _ in 0..<(1 + random(5)) {
            let paths = wanted.keys.sorted()
            let directories = [.root] + paths.filter { isDirectory(wanted[$0]) && $0.components.count < 4 }
            let to = directories[random(directories.count)].appending(randomName())
            let kind = random(6)
            if kind < 2 {
                if wanted[to] == nil { wanted[to] = .new(isDirectory: generator.oneIn(2)) }
                continue
            }
            guard !paths.isEmpty else { continue }
            let path = paths[random(paths.count)]
            let within = paths.filter { $0 == path || $0.isBelow(path) }
            switch kind {
            case 2: for path in within { wanted[path] = nil }
            case 3 where wanted[to] == nil && to != path && !to.isBelow(path):
                let old = wanted
                for path in within { wanted[path] = nil }
                for other in within {
                    let rest = other.components.dropFirst(path.components.count)
                    wanted[rest.reduce(to) { $0.appending(FileName($1)!) }] = old[other]
                }
            case 4 where !isDirectory(wanted[path]): wanted[path] = .new(isDirectory: false)
            case 5 where !isDirectory(wanted[path]) && wanted[to] == nil:
                if case .object? = wanted[path] { wanted[to] = wanted[path] }
            default: break
            }
        }
        return take(wanted, attributes: [:])
    }

    private mutating func restore(_ list: List) -> List {
        // Give new numbers to changed objects, so the list does not name them.
        _ = look()
        var places: [UInt64: Int] = [:]
        for id in [0]
            + slots.sorted(by: { ($0.key.step, $0.key.number) < ($1.key.step, $1.key.number) }).map(\.value)
        {
            for id in [id] + names(below: id).map(\.id) {
                if let number = object(id).number { places[number] = places[number] ?? id }
            }
        }
        var wanted: [RelativePath: Wanted] = [:]
        for (path, entry) in list.sorted(by: { $0.key < $1.key }) {
            if let id = places[entry.number] {
                wanted[path] = .object(id)
            } else if entry.isDirectory {
                wanted[path] = .new(isDirectory: true)
            }
        }
        return take(wanted, attributes: list)
    }

    /// Makes the wanted tree, and moves the rest into the history.
    private mutating func take(_ wanted: [RelativePath: Wanted], attributes: List) -> List {
        let (before, found) = (present, look())
        var ids: [RelativePath: Int] = [:]
        for (path, wanted) in wanted.sorted(by: { $0.key < $1.key }) {
            switch wanted {
            case .object(let id): ids[path] = id
            case .new(let isDirectory): ids[path] = make(isDirectory: isDirectory)
            }
        }
        let kept = Set(ids.values)
        for (id, object) in objects {
            objects[id]?.entries = object.entries.filter { !kept.contains($0.value) }
        }
        slots = slots.filter { !kept.contains($0.value) }
        var record = Record(step: nextStep, found: found)
        nextStep += 1
        let listed = Set(found.values.map(\.number))
        var count = 0
        for directory in [0] + kept.sorted() {
            for (name, id) in object(directory).entries.sorted(by: { $0.key < $1.key }) {
                objects[directory]?.entries[name] = nil
                slots[Slot(step: record.step, number: count)] = id
                record.stored[object(id).number!] = .slot(RelativePath("0/\(count)")!)
                count += 1
                mention(below: id, listed, in: &record)
            }
        }
        for (path, id) in ids.sorted(by: { $0.key < $1.key }) {
            guard let parent = path.parent.flatMap({ $0.isRoot ? 0 : ids[$0] }), let name = path.fileName
            else {
                continue
            }
            objects[parent]?.entries[name] = id
            let number = object(id).number
            if let entry = attributes[path], number == entry.number {
                objects[id]?.attributes = entry.attributes
            }
        }
        present = look()
        records.insert(record, at: 0)
        return before
    }

    /// Notes the new places of objects whose directory was moved into the history.
    private func mention(below directory: Int, _ listed: Set<UInt64>, in record: inout Record) {
        for (name, id) in object(directory).entries {
            if let number = object(id).number, let above = object(directory).number, listed.contains(number) {
                record.stored[number] = .inside(above, name)
            }
            mention(below: id, listed, in: &record)
        }
    }

    // MARK: Judging

    /// The number of the object at a path of the tree.
    func number(at path: RelativePath) -> UInt64? { id(at: path).flatMap { object($0).number } }

    /// The number of an object in the history, below a slot.
    func number(inSlot number: Int, of step: Int, at path: RelativePath = .root) -> UInt64? {
        id(at: path, below: slots[Slot(step: step, number: number)]).flatMap { object($0).number }
    }

    /// Removes all other objects from the slots. A directory remains if an object in it does.
    mutating func sweep(keeping numbers: Set<UInt64>) {
        func isKept(_ id: Int) -> Bool {
            for (name, child) in object(id).entries where !isKept(child) { objects[id]?.entries[name] = nil }
            return !object(id).entries.isEmpty || object(id).number.map { numbers.contains($0) } ?? false
        }
        for (slot, id) in slots where !isKept(id) { slots[slot] = nil }
    }
}
