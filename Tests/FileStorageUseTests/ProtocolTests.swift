import FileStorage
import Foundation
import Testing

private struct Log: FileDecodable, FileEncodable, Equatable {
    static let fileName = "log.txt"
    var text = "entry\n"
    init() {}
    init(fileText: String) { text = fileText }
    func fileText() -> String { text }
}

private struct Window: Codable, FileReadWritable, Equatable {
    var width = 800
}

private struct Panel: Codable, FileDecodable, FileEncodable, Equatable {
    static let fileName = "panel.json"
    var width = 800
}

private struct SensorLog: FileReadWritable {}

struct ProtocolTests {
    private let scratch: Scratch
    private var root: LocalFile { scratch.directory }
    init() throws { scratch = try Scratch() }

    @Test func writeMakesDirectories() throws {
        try Log().write(in: root + "a/b")
        try Panel().write(in: root + "c/d")
        #expect(try Log.read(in: root + "a/b") == Log())
        #expect(try Panel.read(in: root + "c/d") == Panel())
        try Window(width: 3).write(in: root)
        #expect(try Window.readIfPresent(in: root)?.width == 3)
        #expect(try Window.readIfPresent("none", in: root) == nil)
    }

    @Test func nameStaysInTheDirectory() throws {
        let directory = root + "d"
        try (root + "x").replace(withText: "outside")
        func isRefused(_ body: () throws -> Void) {
            #expect { try body() } throws: { ($0 as? SyncError)?.code == .usage }
        }
        for name in ["../x", "", "..", "a/b", "/x"] {
            isRefused { _ = try Log.read(name, in: directory) }
            isRefused { _ = try Log.readIfPresent(name, in: directory) }
            isRefused { try Log().write(name, in: directory) }
            isRefused { try Log().append(to: name, in: directory) }
            isRefused { _ = try Log.file(name, in: directory) }
            isRefused { try Window().write(name, in: directory) }
        }
        #expect(try (root + "x").text() == "outside")
        #expect(try Log.file(in: directory) == directory + "log.txt")
    }

    @Test func textsAreAppended() throws {
        try Log().append(in: root)
        try Log().append(to: "log.txt", in: root)
        #expect(try Log.read(in: root).text == "entry\nentry\n")
    }
}
