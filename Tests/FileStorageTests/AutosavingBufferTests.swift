import FileStorage
import FileSystem
import Foundation
import Observation
import Synchronization
import TestSupport
import Testing

/// A storage whose writes can be delayed and made to fail.
private final class GatedStorage: Storage {
    private struct State {
        var isFailing = false
        var isShut = false
        var active = 0
        var mostActive = 0
        var writes = 0
    }

    private let base = MemoryStorage()
    private let state = Mutex(State())
    private let begun = BoundedQueue<Bool>(capacity: 100)
    private let ended = BoundedQueue<Bool>(capacity: 100)
    private let gate = BoundedQueue<Bool>(capacity: 100)
    private let worker = WorkerThread()

    var writes: Int { state.withLock { $0.writes } }
    var mostActive: Int { state.withLock { $0.mostActive } }

    func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }
    func shut() { state.withLock { $0.isShut = true } }

    /// Lets one waiting write continue, and all later ones.
    func open() {
        state.withLock { $0.isShut = false }
        _ = gate.push(true)
    }

    func waitForBegin() { _ = begun.pop() }
    func waitForEnd() { _ = ended.pop() }

    func store(_ data: Data, for key: String) throws(StorageError) {
        let isShut = state.withLock { state in
            state.writes += 1
            state.active += 1
            state.mostActive = max(state.mostActive, state.active)
            return state.isShut
        }
        _ = begun.push(true)
        if isShut { _ = gate.pop() }
        defer {
            state.withLock { $0.active -= 1 }
            _ = ended.push(true)
        }
        if state.withLock({ $0.isFailing }) { throw .cannotWrite(key, cause: SyncError(.failed, "no room")) }
        try base.store(data, for: key)
    }

    func data(for key: String) throws(StorageError) -> Data { try base.data(for: key) }
    func keys() throws(StorageError) -> [String] { try base.keys() }
    func contains(_ key: String) throws(StorageError) -> Bool { try base.contains(key) }
    func remove(_ key: String) throws(StorageError) { try base.remove(key) }

    func perform<Value: Sendable>(
        _ calls: @Sendable @escaping () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await worker.run(calls)
    }
}

/// A pause ends when the test says so.
private final class Clock: Sendable {
    private let begun = BoundedQueue<Duration>(capacity: 100)
    private let ends = BoundedQueue<Bool>(capacity: 100)
    private let count = Mutex(0)

    var pauses: Int { count.withLock { $0 } }

    func wait(_ pause: Duration) -> Bool {
        count.withLock { $0 += 1 }
        _ = begun.push(pause)
        return ends.pop()
    }

    /// Waits for a pause to begin, ends it, and returns its intended length.
    @discardableResult
    func ring() -> Duration {
        let pause = begun.pop()
        _ = ends.push(false)
        return pause
    }

    /// No thread waits after the end of the test.
    func end() { _ = ends.push(true) }
}

@Suite("A buffer that saves itself")
struct AutosavingBufferTests {
    private let storage = GatedStorage()
    private let clock = Clock()
    private let failures = BoundedQueue<String>(capacity: 100)
    private let temporary = try! TemporaryDirectory()
    private var root: LocalFile { temporary.file }

    private func makeBuffer(interval: Duration = .seconds(1)) -> AutosavingBuffer<[Int]> {
        AutosavingBuffer(
            "numbers", initial: [], interval: interval,
            onFailure: { [failures] in _ = failures.push("\($0)") }, wait: { [clock] in clock.wait($0) },
            store: save)
    }

    private var save: @Sendable ([Int]) throws(StorageError) -> Void {
        let documents = CodableStorage(storage)
        return { (numbers) throws(StorageError) in try documents.store(numbers, for: "numbers") }
    }

    private func stored() throws -> [Int] {
        try CodableStorage(storage).value(for: "numbers")
    }

    @Test func beginsWithWhatIsStored() throws {
        func buffer() throws -> AutosavingBuffer<[Int]> {
            try AutosavingBuffer(
                storage, key: "numbers", storedOr: [1], interval: .seconds(1), onFailure: { _ in })
        }
        #expect(try buffer().value == [1])
        try CodableStorage(storage).store([7], for: "numbers")
        #expect(try buffer().value == [7])
        try storage.store(Data("[".utf8), for: "numbers")
        #expect(throws: StorageError.self) { try buffer() }
    }

    @Test func cleanSaveDoesNothing() throws {
        try makeBuffer().save()
        #expect(storage.writes == 0)
    }

    @Test func changeIsSavedAfterTheInterval() throws {
        defer { clock.end() }
        let buffer = makeBuffer()
        buffer.change { $0.append(1) }
        buffer.change { $0.append(2) }
        #expect(buffer.value == [1, 2])
        #expect(storage.writes == 0)
        #expect(clock.ring() == .seconds(1))
        storage.waitForEnd()
        #expect(try stored() == [1, 2])
        #expect(storage.writes == 1)
    }

    @Test func awaitedSaveDoesTheSame() async throws {
        defer { clock.end() }
        let buffer = makeBuffer()
        buffer.change { $0.append(1) }
        try await buffer.save()
        #expect(storage.writes == 1)
        storage.fail(true)
        buffer.change { $0.append(2) }
        await #expect(throws: StorageError.self) { try await buffer.save() }
    }

    @Test func changeDuringASaveIsNotLostAndSchedulesAnother() throws {
        defer { clock.end() }
        let buffer = makeBuffer()
        buffer.change { $0.append(1) }
        storage.shut()
        clock.ring()
        storage.waitForBegin()
        buffer.change { $0.append(2) }
        storage.open()
        storage.waitForEnd()
        clock.ring()
        storage.waitForEnd()
        #expect(storage.writes == 2)
        #expect(try stored() == [1, 2])
    }

    @Test func savesNeverOverlapAndOnlyOneWaits() throws {
        defer { clock.end() }
        let buffer = makeBuffer()
        let done = BoundedQueue<Bool>(capacity: 3)
        let threads = [WorkerThread(), WorkerThread(), WorkerThread()]
        func save(on thread: WorkerThread) throws {
            try thread.start { _ = done.push((try? buffer.save()) != nil) }
        }
        storage.shut()
        buffer.change { $0.append(0) }
        try save(on: threads[0])
        storage.waitForBegin()
        for number in 1...5 { buffer.change { $0.append(number) } }
        try save(on: threads[1])
        try save(on: threads[2])
        // Time for writes that do not wait for their turn.
        for _ in 0..<10_000 where storage.writes == 1 { sched_yield() }
        storage.open()
        for _ in threads { #expect(done.pop()) }
        #expect(storage.mostActive == 1)
        #expect(storage.writes == 2)
        #expect(try stored() == [0, 1, 2, 3, 4, 5])
    }

    @Test func failedSaveIsReportedStaysDirtyAndIsTriedAgain() throws {
        defer { clock.end() }
        let buffer = makeBuffer()
        storage.fail(true)
        buffer.change { $0.append(1) }
        clock.ring()
        #expect(failures.pop().contains("no room"))
        storage.fail(false)
        storage.waitForEnd()
        clock.ring()
        storage.waitForEnd()
        #expect(try stored() == [1])
    }

    @Test func failedSaveOfACallIsThrownAndTriedAgain() throws {
        defer { clock.end() }
        let buffer = makeBuffer()
        buffer.change { $0.append(1) }
        clock.ring()
        storage.waitForEnd()
        storage.fail(true)
        buffer.change { $0.append(2) }
        #expect(throws: StorageError.self) { try buffer.save() }
        storage.waitForEnd()
        storage.fail(false)
        clock.ring()
        storage.waitForEnd()
        #expect(try stored() == [1, 2])
    }

    @Test func pauseIsAtLeastTenTimesTheLastSave() throws {
        defer { clock.end() }
        let buffer = makeBuffer(interval: .zero)
        storage.shut()
        buffer.change { $0.append(1) }
        #expect(clock.ring() == .zero)
        storage.waitForBegin()
        let start = ContinuousClock.now
        buffer.change { $0.append(2) }
        let least = start.duration(to: .now)
        storage.open()
        storage.waitForEnd()
        #expect(clock.ring() >= least * 10)
        storage.waitForEnd()
    }

    @Test func closedBufferSavesByItselfNoMore() async throws {
        let buffer = makeBuffer()
        buffer.change { $0.append(1) }
        let close: () throws(StorageError) -> Void = buffer.close
        try close()
        #expect(storage.writes == 1)
        clock.ring()
        try await buffer.close()
        buffer.change { $0.append(2) }
        #expect(storage.writes == 1)
        #expect(buffer.isDirty)
        try await buffer.save()
        // One save was asked for, and no pause except the one before it was closed.
        #expect(storage.writes == 2)
        #expect(clock.pauses == 1)
        #expect(try stored() == [1, 2])
    }

    @Test func bufferThatGoesSavesAndEndsItsPause() throws {
        let (closing, begun, rung) = (
            Alarm(), BoundedQueue<Bool>(capacity: 1), BoundedQueue<Bool>(capacity: 1)
        )
        var buffer: AutosavingBuffer? = AutosavingBuffer(
            "numbers", initial: [Int](), interval: .seconds(3600), onFailure: { _ in }, closing: closing,
            wait: { pause in
                _ = begun.push(true)
                let isRung = closing.wait(pause)
                _ = rung.push(isRung)
                return isRung
            }, store: save)
        buffer?.change { $0.append(1) }
        _ = begun.pop()
        buffer = nil
        #expect(rung.pop())
        #expect(try stored() == [1])
    }

    // MARK: Buffers of a user

    private func buffer(
        _ storage: any Storage, _ onFailure: @escaping @Sendable (StorageError) -> Void = { _ in }
    ) -> AutosavingBuffer<String> {
        AutosavingBuffer(storage, key: "n", initial: "", interval: .seconds(3600), onFailure: onFailure)
    }

    @Test func failureOfTheLastSaveIsHeard() throws {
        let heard = Mutex(0)
        try (root + "n").makeDirectory()
        do {
            buffer(try DiskStorage(in: root)) { _ in heard.withLock { $0 += 1 } }
                .change { $0 = "x" }
        }
        #expect(heard.withLock { $0 } == 1)
    }

    @Test func closeSavesAndThrows() throws {
        let storage = MemoryStorage()
        let text = buffer(storage)
        text.change { $0 = "x" }
        #expect(text.isDirty)
        try text.close()
        #expect(!text.isDirty)
        #expect(try CodableStorage(storage).value(String.self, for: "n") == "x")
        try (root + "n").makeDirectory()
        let failing = buffer(try DiskStorage(in: root))
        failing.change { $0 = "x" }
        #expect(throws: StorageError.self) { try failing.close() }
        #expect(failing.isDirty)
    }

    @Test func discardSavesNothing() throws {
        let storage = MemoryStorage()
        do {
            let text = buffer(storage)
            text.change { $0 = "x" }
            text.discard()
        }
        #expect(try storage.keys().isEmpty)
    }

    @Test func changeReturnsAndThrows() throws {
        struct Refused: Error {}
        let text = buffer(MemoryStorage())
        let count = text.change { text in
            text = "abc"
            return text.count
        }
        #expect(count == 3)
        #expect(throws: Refused.self) { try text.change { _ throws(Refused) in throw Refused() } }
    }

    @Test func beginsWithWhatIsStoredForAsyncCallers() async throws {
        let storage = MemoryStorage()
        try await CodableStorage(storage).store("stored", for: "n")
        let text = try await AutosavingBuffer(
            storage, key: "n", storedOr: "", interval: .seconds(1), onFailure: { _ in })
        #expect(text.value == "stored")
    }

    @Test func textFileIsEditedAsText() async throws {
        let file = root + "notes" + "a.txt"
        let text = try await AutosavingBuffer(text: file, interval: .seconds(3600), onFailure: { _ in })
        #expect(text.value == "")
        text.change { $0 = "line\n" }
        try await text.save()
        #expect(try file.text() == "line\n")
        let again = try await AutosavingBuffer(text: file, interval: .seconds(3600), onFailure: { _ in })
        #expect(again.value == "line\n")
    }

    @Test func observersMayReadAndChange() throws {
        let text = buffer(MemoryStorage())
        let told = Mutex<[String]>([])
        withObservationTracking {
            _ = (text.value, text.isDirty)
        } onChange: {
            told.withLock { $0.append(text.value) }
            text.change { $0 += "!" }
        }
        text.change { $0 = "a" }
        #expect(told.withLock { $0 } == ["a"])
        #expect(text.value == "a!")
        withObservationTracking {
            _ = text.isDirty
        } onChange: {
            told.withLock { $0.append("saved") }
        }
        try text.save()
        #expect(told.withLock { $0 } == ["a", "saved"])
    }
}
