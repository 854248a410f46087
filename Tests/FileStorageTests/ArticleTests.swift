import FileStorage
import FoundationEssentials
import TestSupport
import Testing

struct Note: Codable {
    var title: String
    var text = ""
    var changed = Date()
}

struct Notes {
    let values: CodableStorage

    init(_ storage: any Storage) {
        values = CodableStorage(storage)
    }

    func save(_ note: Note) throws {
        try values.store(note, for: StorageKey.escaped(note.title))
    }

    func delete(_ title: String) throws {
        try values.base.remove(StorageKey.escaped(title))
    }

    /// The newest first, and the titles of those that cannot be read.
    func all() throws -> (notes: [Note], damaged: [String]) {
        let found = try values.all(Note.self)
        let notes = found.compactMap { try? $0.value.get() }.sorted { $0.changed > $1.changed }
        let damaged = found.filter { (try? $0.value.get()) == nil }
        return (notes, damaged.map { StorageKey.text(of: $0.key) ?? $0.key })
    }
}

/// The examples of the article, compiled and run.
struct ArticleTests {
    private func run(in directory: LocalFile) throws {
        let log = directory + "logs/run.log"
        try log.append("started\n")
        let copy = directory + "run.log"
        try log.copy(to: copy)
        try copy.rename(to: "old.log")
        try log.parent.delete(recursive: true)
        #expect(try directory.children == [directory + "old.log"])

        struct Window: Codable, FileReadWritable {
            var width = 800
            var isFullScreen: Bool?
        }
        var window = try Window.readIfPresent(in: directory) ?? Window()
        window.width = 1024
        try window.write(in: directory)
        #expect(try Window.read(in: directory).width == 1024)

        struct Preferences: Codable {
            var theme = "light"
            var keepLast: Int?
        }
        var settings = try SettingsFile.read(in: directory, defaults: Preferences())
        settings.content.theme = "dark"
        try settings.write()
        #expect(try SettingsFile<Preferences>.readIfPresent(in: directory)?.content.theme == "dark")

        let windows = CodableStorage(try DiskStorage(in: directory + "windows"))
        try windows.store(window, for: StorageKey.escaped("left/right"))
        let main: Window? = try windows.valueIfPresent(for: "main")
        for (key, found) in try windows.all(Window.self) {
            print(key, found)
        }
        #expect(main == nil)

        let progress = AutosavingBuffer(
            windows.base, key: "progress", initial: 0, interval: .seconds(5)
        ) { error in
            print("the progress could not be saved: \(error)")
        }
        progress.change { $0 += 4096 }
        try progress.close()
        #expect(try windows.value(Int.self, for: "progress") == 4096)
    }

    @Test func examplesDoWhatTheySay() throws {
        let temporary = try TemporaryDirectory()
        try run(in: temporary.file)
    }

    @Test func asyncExampleKnowsItsError() async throws {
        let temporary = try TemporaryDirectory()
        let copy = temporary.file + "none"
        let size = try await LocalFile.perform { () throws(SyncError) in
            do throws(SyncError) {
                return try copy.size
            } catch {
                guard error.isNotFound else { throw error }
                return 0
            }
        }
        #expect(size == 0)
    }

    /// Compiled only: the directory is the user's.
    private func writesWithoutAMember() throws {
        struct SensorLog: FileReadWritable {}
        try SensorLog().write("12.5 0.1\n")
        let text = try SensorLog().read()
        print(text)
    }

    @Test func notesAreOnADiskOrInMemory() throws {
        let temporary = try TemporaryDirectory()
        for storage in [try DiskStorage(in: temporary.file), MemoryStorage()] as [any Storage] {
            let notes = Notes(storage)
            try notes.save(Note(title: "a/b", text: "x"))
            try notes.save(Note(title: "c"))
            try storage.store(Data("{".utf8), for: StorageKey.escaped("d/e"))
            #expect(try notes.all().notes.map(\.title) == ["c", "a/b"])
            #expect(try notes.all().damaged == ["d/e"])
            try notes.delete("a/b")
            #expect(try notes.all().notes.count == 1)
        }
    }

    /// The article's code is the code above.
    @Test func articleHasTheseExamples() throws {
        let article = try Article("Sources/FileStorage/FileStorage.docc/FileStorage.md", testedIn: #filePath)
        #expect(article.linesNotTested == [])
        #expect(article.lineCount > 60)
    }
}
