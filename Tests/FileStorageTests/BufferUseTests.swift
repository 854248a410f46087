import FileStorage
import Foundation
import Observation
import Synchronization
import TestSupport
import Testing

struct BufferUseTests {
    private let temporary = try! TemporaryDirectory()
    private var root: LocalFile { temporary.file }

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
