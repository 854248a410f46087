import FileSystem

/// The unread parts of a tree, in the order of a scan, and the read parts that the scan has not asked for yet. The lock
/// of `DirectoryPrefetch` guards it.
struct ReadingList: Sendable {
    /// A piece that a thread reads at a time.
    enum Part: Sendable {
        /// An entry of a directory. It is opened and listed, and its first window is read.
        case subdirectory(Int)
        /// A later window of a long listing.
        case window(Range<Int>)
    }

    /// A part that was read.
    struct Reading: Sendable {
        let listed: ListedDirectory
        var window: ListingWindow
        /// The later windows of a subdirectory.
        var later: ArraySlice<Int> = []
        /// The handle, if it is open.
        var directory: Directory?
    }

    /// A part that a thread has taken.
    struct Assignment: Sendable {
        let id: Int
        let part: Part
        let parent: ListedDirectory
        /// The handle; nil only if the scan must open it.
        let directory: Directory?
        /// Whether a descriptor of the budget is reserved for it.
        let isReserved: Bool
        /// Whether the scan waits for it.
        let isNeeded: Bool
    }

    enum Step: Sendable {
        case ready(Result<Reading, SystemError>)
        case read(Assignment)
        case wait
        /// For helper threads: the scan has ended.
        case end
    }

    /// The threads to start and to wake.
    struct Wakings: Sendable {
        var new = 0
        var idle = 0
        var scan = false
    }

    private enum Phase: Sendable {
        /// The slot is free.
        case none
        case unread
        case assigned
        /// Assigned, and no longer needed.
        case discarded
        case read(Result<Reading, SystemError>)
    }

    private struct Slot: Sendable {
        var part = Part.subdirectory(0)
        var parent: ListedDirectory?
        var phase = Phase.none
        /// The neighbours in the list; -1 for a part that only the scan reads, which is not in the list.
        var previous = -1
        var next = -1
    }

    /// If so many entries wait for the scan, reading ahead pauses.
    private static let entryLimit = 32_768
    /// A thread is worth its start if it has at least so many parts to read.
    private static let partsPerHelper = 8

    /// The most helpers.
    private let helperLimit: Int
    /// The slots by number. Slot 0 is both ends of the list.
    private var slots: [Slot]
    private var free: [Int] = []
    private var entries = 0
    private var descriptors = 0
    private var descriptorLimit: Int
    private var awaited = 0
    private var helpers = 0
    private var idle = 0
    private var isOver = false
    private var wakings = Wakings()
    /// The handles to close, without the lock.
    private var closing: [Directory] = []

    init(helpers: Int, descriptors: Int) {
        (helperLimit, descriptorLimit) = (helpers, descriptors)
        slots = [Slot()]
        (slots[0].previous, slots[0].next) = (0, 0)
    }

    /// The tasks for the time after the lock is released.
    mutating func takeDeferred() -> (wakings: Wakings, handles: [Directory]) {
        defer { (wakings, closing) = (Wakings(), []) }
        return (wakings, closing)
    }

    // MARK: Taking parts

    /// The next step of the scan, which needs a part.
    mutating func next(_ id: Int) -> Step {
        switch slots[id].phase {
        case .read(let result):
            remove(id)
            guard case .success(var reading) = result else { return .ready(result) }
            release(reading.window.count)
            reading.directory = reading.listed.directory
            return .ready(.success(reading))
        case .none, .unread: return .read(begin(id, isNeeded: true))
        case .assigned, .discarded:
            if let assignment = take() { return .read(assignment) }
            awaited = id
            return .wait
        }
    }

    /// The next step of a helper.
    mutating func nextOfHelper() -> Step {
        if isOver { return .end }
        if let assignment = take() { return .read(assignment) }
        idle += 1
        return .wait
    }

    /// Takes the first part that no thread has taken; nil at a limit.
    private mutating func take() -> Assignment? {
        guard entries < ReadingList.entryLimit, descriptors < descriptorLimit else { return nil }
        var id = slots[0].next
        while id > 0 {
            if case .unread = slots[id].phase { return begin(id, isNeeded: false) }
            id = slots[id].next
        }
        return nil
    }

    private mutating func begin(_ id: Int, isNeeded: Bool) -> Assignment {
        guard let parent = slots[id].parent else { preconditionFailure("a part that is not in the list") }
        slots[id].phase = .assigned
        var isReserved = false
        if case .subdirectory = slots[id].part { isReserved = descriptors < descriptorLimit }
        if isReserved { descriptors += 1 }
        return Assignment(
            id: id, part: slots[id].part, parent: parent, directory: parent.directory,
            isReserved: isReserved, isNeeded: isNeeded)
    }

    // MARK: Ending parts

    /// Replaces a part by its contents.
    ///
    /// - Returns: the result, if the scan waits for it.
    mutating func finish(
        _ assignment: Assignment, _ result: Result<Reading, SystemError>
    ) -> Result<Reading, SystemError>? {
        if awaited == assignment.id { (awaited, wakings.scan) = (0, true) }
        var isWanted = true
        if case .discarded = slots[assignment.id].phase { isWanted = false }
        if isWanted, !assignment.isNeeded, isShortOfDescriptors(result) {
            // The scan itself reads all remaining parts, with few descriptors.
            if assignment.isReserved { descriptors -= 1 }
            descriptorLimit = 0
            slots[assignment.id].phase = .unread
            return nil
        }
        guard case .success(var reading) = result, isWanted else {
            if assignment.isReserved { descriptors -= 1 }
            leave(assignment.parent)
            if isWanted, !assignment.isNeeded {
                unlink(assignment.id)
                slots[assignment.id].phase = .read(result)
            } else {
                remove(assignment.id)
            }
            return assignment.isNeeded ? result : nil
        }
        if case .subdirectory = assignment.part { keep(&reading, assignment) }
        // If the scan has read the part itself, the contents are inserted before all listed parts.
        let following = slots[assignment.id].next
        insert(&reading, before: following >= 0 ? following : slots[0].next)
        leave(assignment.parent)
        if assignment.isNeeded {
            remove(assignment.id)
            return .success(reading)
        }
        unlink(assignment.id)
        // If its handle is left open, it is closed with the last unread part.
        reading.directory = nil
        entries += reading.window.count
        slots[assignment.id].phase = .read(.success(reading))
        return nil
    }

    private func isShortOfDescriptors(_ result: Result<Reading, SystemError>) -> Bool {
        guard case .failure(let error) = result else { return false }
        return [.manyOpenFiles, .manyOpenFilesInAll].contains(error.errno)
    }

    /// Leaves the handle of a directory open for reading ahead, if there are parts to read and the budget allows it.
    private mutating func keep(_ reading: inout Reading, _ assignment: Assignment) {
        guard assignment.isReserved else { return }
        if reading.window.subdirectories.isEmpty, reading.listed.isOneWindow {
            descriptors -= 1
            if !assignment.isNeeded, let directory = reading.directory { closing.append(directory) }
        } else {
            reading.listed.directory = reading.directory
        }
    }

    /// Adds the root, with its handle.
    mutating func insertRoot(_ reading: inout Reading) {
        descriptors += 1
        reading.listed.directory = reading.directory
        reading.listed.unread += 1
        insert(&reading, before: 0)
        leave(reading.listed)
    }

    /// Numbers the contents of a part and puts them into the list.
    private mutating func insert(_ reading: inout Reading, before next: Int) {
        let listed = reading.listed
        var shared = 0
        for (position, subdirectory) in reading.window.subdirectories.enumerated() {
            let isShared = !subdirectory.isMount && listed.directory != nil
            shared += isShared ? 1 : 0
            let id = add(.subdirectory(subdirectory.index), of: listed, before: isShared ? next : nil)
            reading.window.number(position, id)
        }
        if reading.window.range.lowerBound == 0, !listed.isOneWindow {
            for range in listed.laterWindows {
                shared += 1
                reading.later.append(
                    add(.window(range), of: listed, before: listed.directory != nil ? next : nil))
            }
        }
        // Not for a single directory: waking a thread costs as much as reading a small one.
        if entries < ReadingList.entryLimit / 2 { wakeHelpers(atMost: shared - 1) }
    }

    private mutating func add(_ part: Part, of parent: ListedDirectory, before next: Int?) -> Int {
        parent.unread += 1
        var slot = Slot(part: part, parent: parent, phase: .unread)
        if let next { (slot.previous, slot.next) = (slots[next].previous, next) }
        let id = free.popLast() ?? slots.count
        if id < slots.count { slots[id] = slot } else { slots.append(slot) }
        if let next {
            slots[slot.previous].next = id
            slots[next].previous = id
        }
        return id
    }

    private mutating func unlink(_ id: Int) {
        let (previous, next) = (slots[id].previous, slots[id].next)
        guard next >= 0 else { return }
        slots[previous].next = next
        slots[next].previous = previous
        (slots[id].previous, slots[id].next) = (-1, -1)
    }

    /// Forgets a part. Its number is used again.
    private mutating func remove(_ id: Int) {
        unlink(id)
        slots[id] = Slot()
        free.append(id)
    }

    /// Notes that a part of the directory has been read or dropped.
    private mutating func leave(_ listed: ListedDirectory) {
        listed.unread -= 1
        guard listed.unread == 0, let directory = listed.directory else { return }
        listed.directory = nil
        descriptors -= 1
        closing.append(directory)
    }

    /// Notes that entries no longer wait for the scan.
    private mutating func release(_ count: Int) {
        let before = entries
        entries -= count
        let half = ReadingList.entryLimit / 2
        if before >= half, entries < half { wakeHelpers(atMost: idle) }
    }

    /// Wakes idle helpers. If all are busy then, it starts more.
    private mutating func wakeHelpers(atMost count: Int) {
        let woken = max(min(idle, count), 0)
        wakings.idle += woken
        idle -= woken
        if idle == 0 { startHelpers() }
    }

    /// Forgets parts that the scan will not ask for, with all their contents.
    mutating func discard(_ ids: [Int]) {
        var ids = ids
        while let id = ids.popLast() {
            switch slots[id].phase {
            case .none: continue
            case .unread:
                if let parent = slots[id].parent { leave(parent) }
                remove(id)
            case .assigned, .discarded: slots[id].phase = .discarded
            case .read(let result):
                remove(id)
                guard case .success(let reading) = result else { continue }
                release(reading.window.count)
                ids += reading.window.subdirectories.map(\.id) + reading.later
            }
        }
    }

    // MARK: Helpers

    /// Starts more helpers if all are busy and enough parts are known.
    private mutating func startHelpers() {
        while helpers < helperLimit,
            slots.count - free.count > (helpers + 1) * ReadingList.partsPerHelper
        {
            helpers += 1
            wakings.new += 1
        }
    }

    /// Closes all directories. No thread may be reading.
    mutating func removeAll() {
        slots = []
        closing = []
    }

    /// Ends all helpers, and returns the number that were started.
    mutating func end() -> Int {
        isOver = true
        wakings.idle += idle
        idle = 0
        return helpers
    }
}
