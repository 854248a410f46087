import FileSystem

/// The parts of a tree that are unread, in the order of a scan, and those that were read and that the scan has not asked
/// for yet. `DirectoryPrefetch` guards it by its lock.
struct ReadingList: Sendable {
    /// What a thread reads at a time.
    enum Part: Sendable {
        /// An entry of a directory: it is opened and listed, and its first window read.
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
    struct Job: Sendable {
        let id: Int
        let part: Part
        let parent: ListedDirectory
        /// nil only where the scan has to open it.
        let directory: Directory?
        /// A descriptor of the budget is set aside.
        let isReserved: Bool
        /// The scan is waiting for it.
        let isNeeded: Bool
        /// Those of the count when it was taken.
        let epoch: Int
        let sampling: Int
    }

    enum Step: Sendable {
        case ready(Result<Reading, SystemError>)
        case read(Job)
        case wait
        /// Only of helpers: there are more than the count asks for, or the scan is over.
        case park
        case end
    }

    /// The threads to wake.
    struct Wakings: Sendable {
        var idle = 0
        var parked = 0
        var scan = false
    }

    private enum Phase: Sendable {
        case unread
        case taken
        /// Taken, and no longer wanted.
        case discarded
        case read(Result<Reading, SystemError>)
    }

    private struct Slot: Sendable {
        let part: Part
        let parent: ListedDirectory
        var phase = Phase.unread
        /// The neighbours in the list. nil for what only the scan reads.
        var links: (previous: Int, next: Int)?
    }

    /// With so many entries waiting for the scan, no more is read ahead.
    private static let entryLimit = 32_768

    private(set) var count: ReaderCount
    /// By number. 0 stands for both ends of the list.
    private var slots: [Int: Slot] = [:]
    private var ends = (first: 0, last: 0)
    private var lastID = 0
    private var entries = 0
    private var descriptors = 0
    private var descriptorLimit: Int
    private var awaited = 0
    private var helpers = 0
    private var (idle, parked) = (0, 0)
    private var isOver = false
    private var wakings = Wakings()
    /// Handles to close; not with the lock.
    private var closing: [Directory] = []

    init(_ count: ReaderCount, descriptors: Int) {
        (self.count, descriptorLimit) = (count, descriptors)
    }

    /// What is to be done after the lock is released.
    mutating func takeDeferred() -> (wakings: Wakings, handles: [Directory]) {
        defer { (wakings, closing) = (Wakings(), []) }
        return (wakings, closing)
    }

    // MARK: Taking parts

    /// The step of the scan, which needs a part.
    mutating func next(_ id: Int) -> Step {
        guard let slot = slots[id] else { return .wait }
        switch slot.phase {
        case .read(let result):
            slots[id] = nil
            guard case .success(var reading) = result else { return .ready(result) }
            release(reading.window.count)
            reading.directory = reading.listed.directory
            return .ready(.success(reading))
        case .unread: return .read(begin(id, isNeeded: true))
        case .taken, .discarded:
            if let job = take() { return .read(job) }
            awaited = id
            return .wait
        }
    }

    /// The step of a helper.
    ///
    /// - Parameter number: from 0.
    mutating func nextOfHelper(_ number: Int) -> Step {
        if isOver { return .end }
        if number >= count.threads - 1 {
            parked += 1
            return .park
        }
        if let job = take() { return .read(job) }
        idle += 1
        return .wait
    }

    /// Takes the first part that no thread has taken; nil at a limit.
    private mutating func take() -> Job? {
        guard entries < ReadingList.entryLimit, descriptors < descriptorLimit else { return nil }
        var id = ends.first
        while id > 0, let slot = slots[id], let links = slot.links {
            if case .unread = slot.phase { return begin(id, isNeeded: false) }
            id = links.next
        }
        return nil
    }

    private mutating func begin(_ id: Int, isNeeded: Bool) -> Job {
        guard let slot = slots[id] else { preconditionFailure("a part that is not in the list") }
        slots[id]?.phase = .taken
        var isReserved = false
        if case .subdirectory = slot.part { isReserved = descriptors < descriptorLimit }
        if isReserved { descriptors += 1 }
        return Job(
            id: id, part: slot.part, parent: slot.parent, directory: slot.parent.directory,
            isReserved: isReserved, isNeeded: isNeeded, epoch: count.epoch,
            sampling: count.sampling)
    }

    // MARK: Ending parts

    /// Replaces a part by what it contains.
    ///
    /// - Parameter times: what the reading took, if it was measured.
    /// - Returns: the result, if the scan is waiting for it.
    mutating func finish(
        _ job: Job, _ result: Result<Reading, SystemError>, _ times: ThreadTimes?
    ) -> Result<Reading, SystemError>? {
        if let times, job.epoch == count.epoch { learn(times) }
        if awaited == job.id { (awaited, wakings.scan) = (0, true) }
        guard let slot = slots[job.id] else { return nil }
        var isWanted = true
        if case .discarded = slot.phase { isWanted = false }
        if isWanted, !job.isNeeded, isShortOfDescriptors(result) {
            // The scan itself reads all that is left, with few descriptors.
            if job.isReserved { descriptors -= 1 }
            descriptorLimit = 0
            slots[job.id]?.phase = .unread
            return nil
        }
        guard case .success(var reading) = result, isWanted else {
            if job.isReserved { descriptors -= 1 }
            unlink(job.id)
            leave(job.parent)
            slots[job.id] = isWanted && !job.isNeeded ? slots[job.id] : nil
            slots[job.id]?.phase = .read(result)
            return job.isNeeded ? result : nil
        }
        if case .subdirectory = job.part { keep(&reading, job) }
        insert(&reading, before: slot.links?.next ?? ends.first)
        unlink(job.id)
        leave(job.parent)
        if job.isNeeded {
            slots[job.id] = nil
            return .success(reading)
        }
        // Its handle, if it is kept, is closed with its last unread part.
        reading.directory = nil
        entries += reading.window.count
        slots[job.id]?.phase = .read(.success(reading))
        return nil
    }

    private func isShortOfDescriptors(_ result: Result<Reading, SystemError>) -> Bool {
        guard case .failure(let error) = result else { return false }
        return [.manyOpenFiles, .manyOpenFilesInAll].contains(error.errno)
    }

    /// Keeps the handle of a directory for reading ahead, if anything is to be read and the budget allows it.
    private mutating func keep(_ reading: inout Reading, _ job: Job) {
        guard job.isReserved else { return }
        if reading.window.subdirectories.isEmpty, reading.listed.laterWindows.isEmpty {
            descriptors -= 1
            if !job.isNeeded, let directory = reading.directory { closing.append(directory) }
        } else {
            reading.listed.directory = reading.directory
        }
    }

    /// The root, with its handle.
    mutating func insertRoot(_ reading: inout Reading) {
        descriptors += 1
        reading.listed.directory = reading.directory
        reading.listed.unread += 1
        insert(&reading, before: 0)
        leave(reading.listed)
    }

    /// Puts what a part contains into the list, and numbers it.
    private mutating func insert(_ reading: inout Reading, before next: Int) {
        let listed = reading.listed
        var shared = 0
        for (position, subdirectory) in reading.window.subdirectories.enumerated() {
            let isShared = !subdirectory.isMount && listed.directory != nil
            shared += isShared ? 1 : 0
            let id = add(.subdirectory(subdirectory.index), of: listed, before: isShared ? next : nil)
            reading.window.number(position, id)
        }
        if reading.window.range.lowerBound == 0 {
            for range in listed.laterWindows {
                shared += 1
                reading.later.append(
                    add(.window(range), of: listed, before: listed.directory != nil ? next : nil))
            }
        }
        // Never for a single directory: waking a thread costs as much as reading a small one.
        if shared > 1, entries < ReadingList.entryLimit / 2 { wakeIdle() }
    }

    private mutating func add(_ part: Part, of parent: ListedDirectory, before next: Int?) -> Int {
        lastID += 1
        parent.unread += 1
        var slot = Slot(part: part, parent: parent)
        if let next {
            let previous = next == 0 ? ends.last : slots[next]?.links?.previous ?? 0
            slot.links = (previous, next)
            link(previous, to: lastID, next)
        }
        slots[lastID] = slot
        return lastID
    }

    /// Makes an entry, or a neighbour, the neighbour of both.
    private mutating func link(_ previous: Int, to next: Int, _ following: Int) {
        if previous == 0 { ends.first = next } else { slots[previous]?.links?.next = next }
        if following == 0 { ends.last = next } else { slots[following]?.links?.previous = next }
    }

    private mutating func unlink(_ id: Int) {
        guard let links = slots[id]?.links else { return }
        slots[id]?.links = nil
        if links.previous == 0 { ends.first = links.next } else { slots[links.previous]?.links?.next = links.next }
        if links.next == 0 { ends.last = links.previous } else { slots[links.next]?.links?.previous = links.previous }
    }

    /// A part of the directory is no longer unread.
    private mutating func leave(_ listed: ListedDirectory) {
        listed.unread -= 1
        guard listed.unread == 0, let directory = listed.directory else { return }
        listed.directory = nil
        descriptors -= 1
        closing.append(directory)
    }

    /// Entries no longer wait for the scan.
    private mutating func release(_ count: Int) {
        let before = entries
        entries -= count
        let half = ReadingList.entryLimit / 2
        if before >= half, entries < half { wakeIdle() }
    }

    private mutating func wakeIdle() {
        wakings.idle += idle
        idle = 0
    }

    /// Forgets parts that the scan does not ask for, with all that they contain.
    mutating func discard(_ ids: [Int]) {
        var ids = ids
        while let id = ids.popLast() {
            guard let slot = slots[id] else { continue }
            switch slot.phase {
            case .unread:
                unlink(id)
                leave(slot.parent)
                slots[id] = nil
            case .taken, .discarded: slots[id]?.phase = .discarded
            case .read(let result):
                slots[id] = nil
                guard case .success(let reading) = result else { continue }
                release(reading.window.count)
                ids += reading.window.subdirectories.map(\.id) + reading.later
            }
        }
    }

    // MARK: Helpers

    private mutating func learn(_ times: ThreadTimes) {
        let before = count.threads
        count.learn(times)
        guard count.threads > before else { return }
        wakings.parked += parked
        parked = 0
    }

    /// The number of the next helper to start; nil if there are enough.
    mutating func takeHelper() -> Int? {
        guard !isOver, helpers < count.threads - 1 else { return nil }
        helpers += 1
        return helpers - 1
    }

    /// Closes all directories. No thread reads any more.
    mutating func removeAll() {
        slots = [:]
        closing = []
    }

    /// Ends all helpers, and tells how many were started.
    mutating func end() -> Int {
        isOver = true
        wakeIdle()
        wakings.parked += parked
        parked = 0
        return helpers
    }
}
