import FileSystem
import FsyncLite

/// The edits that people and programs make between two runs.
package enum ModelEdit: CaseIterable, Sendable {
    case createFile, createDirectory, createSymlink, createFIFO, createHardLink
    case delete, write, writeKeepingTimes, store, changeMode, changeGroup, touch, editThroughRename
    case rename, swap, cycle, turnInsideOut, moveIntoNewDirectoryOutOfDeleted
    case replace, recreateDirectory, changeType

    /// The edits that only rename objects.
    package static let moves: [ModelEdit] = [.rename, .swap, .cycle, .turnInsideOut]
}

extension ModelTree {
    private static let names = (["a", "b", "c", "d", "a-", "a.b"].map { Array($0.utf8) } + [[0xFF]])
        .compactMap { FileName($0) }

    /// A random tree.
    package static func random(
        now: Int64, firstInode: UInt64, hasBirthTimes: Bool = true, _ random: inout SplitMix64
    ) -> ModelTree {
        var tree = ModelTree(now: now, firstInode: firstInode, hasBirthTimes: hasBirthTimes)
        for _ in 0..<Int.random(in: 0..<20, using: &random) {
            tree.edit(
                [
                    .createFile, .createFile, .createDirectory, .createDirectory, .createSymlink, .createFIFO,
                    .createHardLink, .touch, .changeMode,
                ].randomElement(using: &random)!, &random)
        }
        return tree
    }

    /// Makes one random edit. It does nothing if the tree has no place for it.
    package mutating func edit(_ edit: ModelEdit, atOnce: Bool = false, _ random: inout SplitMix64) {
        if !atOnce, !random.oneIn(3) { now += 1 }
        switch edit {
        case .createFile: create(.file, &random)
        case .createDirectory: create(.directory, &random)
        case .createSymlink: create(.symlink, &random)
        case .createFIFO: create(.fifo, &random)
        case .createHardLink:
            guard let entry = anyEntry(&random, where: { !$0.isDirectory }),
                let place = freePlace(&random)
            else { return }
            link(entry.id, place)
        case .delete:
            if let entry = anyEntry(&random) { remove(entry.place) }
        case .write:
            guard let entry = anyEntry(&random, where: { $0.status.type == .file }) else { return }
            write(entry.id, &random)
            modify(entry.id, time)
        case .writeKeepingTimes:
            guard let entry = anyEntry(&random, where: { $0.status.type == .file }) else { return }
            change(entry.id) { $0.content += 2 * Int.random(in: 1..<3, using: &random) }
        case .store:
            guard let entry = anyEntry(&random, where: { $0.status.type == .file }) else { return }
            for _ in 0..<2 { store(entry.id, closes: random.oneIn(3)) }
        case .changeMode:
            guard let entry = anyEntry(&random, where: { $0.status.type != .symlink }) else { return }
            let mode: UInt16 = [0o700, 0o755, 0o644, 0o600, 0o1777].randomElement(using: &random)!
            change(entry.id) { $0.status.permissions = mode }
        case .changeGroup:
            guard let entry = anyEntry(&random) else { return }
            let group = UInt32.random(in: 0..<3, using: &random)
            change(entry.id) { $0.status.group = group }
        case .touch:
            let time = FileTime.model(Int64.random(in: 1...3, using: &random))
            modify(random.oneIn(8) ? ModelTree.root : anyEntry(&random)?.id ?? ModelTree.root, time)
        case .editThroughRename:
            // An editor renames a new file over the old one, in a directory that was just renamed.
            guard let directory = anyEntry(&random, where: { $0.isDirectory && !$0.entries.isEmpty }),
                let place = freePlace(in: directory.place.directory, &random)
            else { return }
            move(directory.place, place)
            let name = self[directory.id].entries.keys.sorted().randomElement(using: &random)!
            replace(Place(directory.id, name), keepingTimes: false, &random)
        case .rename:
            guard let entry = anyEntry(&random), let place = freePlace(outside: entry.id, &random) else {
                return
            }
            move(entry.place, place)
        case .swap:
            guard let places = apart(2, &random) else { return }
            exchange(places[0], places[1])
        case .cycle:
            guard let places = apart(3, &random) else { return }
            exchange(places[0], places[1])
            exchange(places[1], places[2])
        case .turnInsideOut:
            guard let child = anyEntry(&random, where: { $0.isDirectory }),
                child.place.directory != ModelTree.root,
                let parent = entries().first(where: { $0.id == child.place.directory })
            else { return }
            _ = unlink(child.place)
            _ = unlink(parent.place)
            if let name = [child.place.name, parent.place.name].first(where: {
                self[child.id].entries[$0] == nil
            }) {
                link(parent.id, Place(child.id, name))
            }
            link(child.id, parent.place)
        case .moveIntoNewDirectoryOutOfDeleted:
            guard let old = anyEntry(&random, where: { $0.isDirectory }),
                let place = freePlace(outside: old.id, &random)
            else { return }
            let new = make(.directory, reusingInode: random.oneIn(2))
            link(new, place)
            moveEntries(of: old.id, to: new)
            remove(old.place)
        case .replace:
            guard let entry = anyEntry(&random, where: { $0.status.type == .file }) else { return }
            replace(entry.place, keepingTimes: true, &random)
        case .recreateDirectory:
            guard let old = anyEntry(&random, where: { $0.isDirectory }) else { return }
            let entries = self[old.id].entries.sorted { $0.key < $1.key }
            for (name, _) in entries { _ = unlink(Place(old.id, name)) }
            remove(old.place)
            let new = make(.directory, reusingInode: random.oneIn(2))
            link(new, old.place)
            for (name, id) in entries { link(id, Place(new, name)) }
        case .changeType:
            guard let entry = anyEntry(&random) else { return }
            if self[entry.id].isDirectory, random.oneIn(2) {
                moveEntries(of: entry.id, to: entry.place.directory)
            }
            let type = self[entry.id].status.type
            remove(entry.place)
            let others = [FileType.file, .directory, .symlink, .fifo].filter { $0 != type }
            create(others.randomElement(using: &random)!, at: entry.place, &random)
            if let place = freePlace(&random), let moved = anyEntry(&random), random.oneIn(2),
                !holds(moved.id, place.directory)
            {
                move(moved.place, place)
            }
        }
    }

    // MARK: Parts of an edit

    private mutating func create(_ type: FileType, _ random: inout SplitMix64) {
        if let place = freePlace(&random) { create(type, at: place, &random) }
    }

    private mutating func create(_ type: FileType, at place: Place, _ random: inout SplitMix64) {
        let id = make(type, reusingInode: random.oneIn(2))
        if type == .file { write(id, &random) }
        if type == .symlink {
            let destination = ["x", "../y"].randomElement(using: &random)!
            change(id) { $0.destination = Array(destination.utf8) }
            change(id) { $0.status.size = ByteCount(clamping: destination.utf8.count) }
        }
        // Many objects share these times, so a time identifies none of them.
        if random.oneIn(2) { modify(id, .model(Int64.random(in: 1...3, using: &random))) }
        link(id, place)
    }

    /// Writes other bytes, in one of two sizes.
    private mutating func write(_ id: ID, _ random: inout SplitMix64) {
        let content = Int.random(in: 0..<1_000_000, using: &random)
        change(id) {
            $0.content = content
            $0.status.size = ByteCount(clamping: 1 + content % 2)
        }
    }

    private mutating func modify(_ id: ID, _ time: FileTime) {
        change(id) { $0.status.modified = time }
    }

    private mutating func replace(_ place: Place, keepingTimes: Bool, _ random: inout SplitMix64) {
        guard let id = id(at: place), self[id].status.type == .file else { return }
        let old = self[id]
        let early = random.oneIn(2)
        if early { remove(place) }
        let new = make(.file, reusingInode: true)
        if !early { remove(place) }
        let content = old.content + 2 * Int.random(in: 0..<2, using: &random)
        change(new) {
            $0.content = content
            $0.status.size = old.status.size
            $0.status.permissions = old.status.permissions
            if keepingTimes { $0.status.modified = old.status.modified }
        }
        link(new, place)
    }

    private mutating func moveEntries(of directory: ID, to other: ID) {
        for (name, id) in self[directory].entries.sorted(by: { $0.key < $1.key })
        where self[other].entries[name] == nil && !holds(id, other) {
            move(Place(directory, name), Place(other, name))
        }
    }

    private func anyEntry(_ random: inout SplitMix64, where fits: (Object) -> Bool = { _ in true }) -> Entry?
    {
        entries().filter { fits(self[$0.id]) }.randomElement(using: &random)
    }

    private func freePlace(outside id: ID? = nil, _ random: inout SplitMix64) -> Place? {
        let directories = [ModelTree.root] + entries().filter { self[$0.id].isDirectory }.map(\.id)
        let directory = directories.filter { id == nil || !holds(id!, $0) }.randomElement(using: &random)
        return directory.flatMap { freePlace(in: $0, &random) }
    }

    private func freePlace(in directory: ID, _ random: inout SplitMix64) -> Place? {
        ModelTree.names.filter { self[directory].entries[$0] == nil }.randomElement(using: &random)
            .map { Place(directory, $0) }
    }

    /// Places of objects that do not contain each other.
    private func apart(_ count: Int, _ random: inout SplitMix64) -> [Place]? {
        let chosen = Array(entries().shuffled(using: &random).prefix(count))
        guard chosen.count == count else { return nil }
        for one in chosen {
            for other in chosen where other.path != one.path && other.path.isBelow(one.path) { return nil }
        }
        return chosen.map(\.place)
    }
}
