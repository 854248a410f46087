import FileStorage
import FoundationEssentials
import TestSupport
import Testing

/// The examples of the article, compiled and run.
struct ArticleTests {
    struct Window: Codable, FileReadable, FileWritable {
        static let fileName = "window.json"
        var width = 800
        var isFullScreen: Bool?
    }

    struct Preferences: Codable {
        var theme: String?
        var keepLast: Int?
    }

    struct Progress: Codable {
        var bytes = 0
    }

    @Test func examplesDoWhatTheySay() throws {
        let temporary = try TemporaryDirectory()
        let directory = temporary.file

        let log = directory + "logs" + "run.log"
        try log.append("started\n")
        let copy = directory + "run.log"
        try log.copy(to: copy, force: false)
        try copy.rename(to: "old.log", force: true)
        try log.parent.delete(recursive: true)
        #expect(try directory.children == [directory + "old.log"])

        var window = try Window.readIfPresent(in: directory) ?? Window()
        window.width = 1024
        try window.write(in: directory)
        #expect(try Window.read(in: directory).width == 1024)

        let settings = try SettingsFile<Preferences>.readIfPresent(in: directory)?.content
        let theme = settings?.theme ?? "light"
        #expect(theme == "light")

        let storage = try DiskStorage(in: directory)
        let windows = CodableStorage(storage)
        try windows.store(window, for: "main.json")
        let main: Window? = try windows.valueIfPresent(for: "main.json")
        #expect(main?.width == 1024)

        let progress = AutosavingBuffer(
            storage, key: "progress.json", initial: Progress(), interval: .seconds(5)
        ) { error in
            print("the progress could not be saved: \(error)")
        }
        progress.change { $0.bytes += 4096 }
        try progress.save()
        progress.close()
        #expect(try CodableStorage(storage).value(Progress.self, for: "progress.json").bytes == 4096)
    }

    /// The article's code is the code above.
    @Test func articleHasTheseExamples() throws {
        let article = try Article("Sources/FileStorage/FileStorage.docc/FileStorage.md", testedIn: #filePath)
        #expect(article.linesNotTested == [])
        #expect(article.lineCount > 20)
    }
}
