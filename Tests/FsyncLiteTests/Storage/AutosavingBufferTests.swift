import FoundationEssentials
import Synchronization
import Testing

@testable import FsyncLite

/// A storage whose writes wait to be let through, and can be made to fail.
private final class GatedStorage: Storage {
    private struct State {
        var isFailing = false
        var active = 0
        var mostActive = 0
        var writes = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isOpen = true
    }

    private let base = MemoryStorage()
    private let state = Mutex(State())

    var writes: Int { state.withLock { $0.writes } }
    var mostActive: Int { state.withLock { $0.mostActive } }
    var waiting: Int { state.withLock { $0.waiting.count } }

    func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }
    func shut() { state.withLock { $0.isOpen = false } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func perform<Value: Sendable>(
        _ calls: @Sendable @escaping () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        state.withLock { state in
            state.active += 1
            state.mostActive = max(state.mostActive, state.active)
        }
        defer { state.withLock { $0.active -= 1 } }
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if goesOn { continuation.resume() }
        }
        return try calls()
    }

    func data(for key: String) throws(StorageError) -> Data { try base.data(for: key) }
    func keys() throws(StorageError) -> [String] { try base.keys() }
    func contains(_ key: String) throws(StorageError) -> Bool { try base.contains(key) }
    func remove(_ key: String) throws(StorageError) { try base.remove(key) }

    func store(_ data: Data, for key: String) throws(StorageError) {
        let isFailing = state.withLock { state in
            state.writes += 1
            return state.isFailing
        }
        if isFailing { throw .cannotWrite(key, cause: SyncError(.failed, "no room")) }
        try base.store(data, for: key)
    }
}

/// Sleeps end when the test says so.
private actor Clock {
    private var sleepers: [CheckedContinuation<Void, Never>] = []
    private var watchers: [CheckedContinuation<Void, Never>] = []

    func sleep() async {
        sleeps += 1
        await withCheckedContinuation { continuation in
            sleepers.append(continuation)
            for watcher in watchers { watcher.resume() }
            watchers = []
        }
    }

    /// Waits until somebody sleeps, and wakes them.
    func ring() async {
        if sleepers.isEmpty { await withCheckedContinuation { watchers.append($0) } }
        let waking = sleepers
        sleepers = []
        for sleeper in waking { sleeper.resume() }
    }

    var isAnybodyAsleep: Bool { !sleepers.isEmpty }
    private(set) var sleeps = 0
}

@Suite("A buffer that saves itself")
struct AutosavingBufferTests {
    private let storage = GatedStorage()
    private let clock = Clock()
    private let failures = Failures()

    private final class Failures: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    private func makeBuffer() -> AutosavingBuffer<[Int], GatedStorage> {
        let (clock, failures) = (clock, failures)
        return AutosavingBuffer(
            storage, key: "numbers", interval: .seconds(1), onFailure: { _ in failures.add() },
            sleep: { _ in await clock.sleep() })
    }

    private func begin(with value: [Int]) throws {
        try CodableStorage(storage).store(value, for: "numbers")
    }

    private func stored() throws -> [Int] {
        try CodableStorage(storage).value(for: "numbers")
    }

    /// Lets other tasks run until something holds.
    private func until(_ condition: @Sendable () async -> Bool) async {
        while await !condition() { await Task.yield() }
    }

    @Test func usedBeforeLoadingIsAnError() async {
        let buffer = makeBuffer()
        await #expect(throws: SyncError.self) { try await buffer.change { $0.append(1) } }
    }

    @Test func beginsWithWhatIsStored() async throws {
        try begin(with: [7])
        #expect(try await makeBuffer().load(orBeginWith: []) == [7])
    }

    @Test func cleanSaveDoesNothing() async throws {
        let buffer = makeBuffer()
        _ = try await buffer.load(orBeginWith: [1])
        try await buffer.save()
        #expect(storage.writes == 0)
    }

    @Test func changeIsSavedAfterTheInterval() async throws {
        let buffer = makeBuffer()
        _ = try await buffer.load(orBeginWith: [])
        try await buffer.change { $0.append(1) }
        #expect(storage.writes == 0)
        await clock.ring()
        await until { storage.writes == 1 }
        await buffer.close()
        #expect(try stored() == [1])
    }

    @Test func saveIsAtOnce() async throws {
        let buffer = makeBuffer()
        _ = try await buffer.load(orBeginWith: [])
        try await buffer.change { $0.append(1) }
        try await buffer.save()
        #expect(try stored() == [1])
    }

    @Test func changeDuringASaveIsNotLostAndSchedulesAnother() async throws {
        let buffer = makeBuffer()
        _ = try await buffer.load(orBeginWith: [])
        try await buffer.change { $0.append(1) }
        storage.shut()
        await clock.ring()
        await until { storage.waiting == 1 }
        try await buffer.change { $0.append(2) }
        storage.open()
        await until { storage.writes == 1 }
        await clock.ring()
        await until { storage.writes == 2 }
        await buffer.close()
        #expect(try stored() == [1, 2])
    }

    @Test func savesNeverOverlapAndOnlyOneWaits() async throws {
        let buffer = makeBuffer()
        _ = try await buffer.load(orBeginWith: [])
        storage.shut()
        try await buffer.change { $0.append(0) }
        async let first: Void = buffer.save()
        await until { storage.waiting == 1 }
        for number in 1...5 { try await buffer.change { $0.append(number) } }
        async let second: Void = buffer.save()
        async let third: Void = buffer.save()
        storage.open()
        _ = try await (first, second, third)
        #expect(storage.mostActive == 1)
        #expect(storage.writes == 2)
        #expect(try stored() == [0, 1, 2, 3, 4, 5])
    }

    @Test func failedSaveIsReportedStaysDirtyAndIsTriedAgain() async throws {
        let buffer = makeBuffer()
        _ = try await buffer.load(orBeginWith: [])
        storage.fail(true)
        try await buffer.change { $0.append(1) }
        await clock.ring()
        await until { failures.value == 1 }
        storage.fail(false)
        await clock.ring()
        await until { storage.writes == 2 }
        await buffer.close()
        #expect(try stored() == [1])
    }

    @Test func closedBufferSavesNoMore() async throws {
        let buffer = makeBuffer()
        _ = try await buffer.load(orBeginWith: [])
        try await buffer.change { $0.append(1) }
        await buffer.close()
        await clock.ring()
        try await buffer.change { $0.append(2) }
        try await buffer.save()
        // The one save that was asked for, and no sleep but that before it was closed.
        #expect(storage.writes == 1)
        #expect(await clock.sleeps == 1)
        #expect(try stored() == [1, 2])
    }
}
