import FileStorage
import Foundation
import TestSupport
import Testing

private struct Plan: Codable, Equatable, FileReadWritable {
    static let fileName = "plan.json"
    var sourceURL = "/a"
    var madeAt = Date(timeIntervalSince1970: 1_700_000_000)
    var byName = ["keepMe": 1, "b_c": 2]
}

private struct PlainNote: FileDecodable, FileEncodable {
    static let fileName = "note"
    static let encoding = String.Encoding.ascii
    var text: String
    init(fileText: String) { text = fileText }
    func fileText() -> String { text }
}

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

struct DocumentFileTests {
    let temporary = try! TemporaryDirectory()
    var root: LocalFile { temporary.file }

    @Test func jsonHasSortedKeysAndFinalNewline() throws {
        try (root + "plan.json").replace(withJSON: Plan(), keys: .snakeCase)
        #expect(
            try (root + "plan.json").text() == """
                {
                  "by_name" : {
                    "b_c" : 2,
                    "keepMe" : 1
                  },
                  "made_at" : "2023-11-14T22:13:20Z",
                  "source_u_r_l" : "/a"
                }

                """)
        #expect(try (root + "plan.json").json(Plan.self, keys: .snakeCase) == Plan())
        try Plan().write(in: root)
        #expect(try (root + "plan.json").text().contains("\"sourceURL\" : \"/a\""))
        #expect(try Plan.read(in: root) == Plan())
        #expect(try (root + "plan.json").json(Plan.self) == Plan())
    }

    @Test func readIfPresentIsNilOnlyWhereNothingIs() throws {
        #expect(try Plan.readIfPresent(in: root) == nil)
        #expect(try Plan.readIfPresent(in: root + "missing") == nil)
        try (root + "f").append("")
        #expect(throws: SyncError.self) { try Plan.readIfPresent(in: root + "f") }
        try (root + "plan.json").makeDirectory()
        #expect(throws: SyncError.self) { try Plan.readIfPresent(in: root) }
    }

    @Test func encodingFailureIsAnErrorAndWritesNothing() throws {
        #expect(throws: SyncError.self) { try PlainNote(fileText: "é").append(in: root) }
        #expect(throws: SyncError.self) { try PlainNote(fileText: "é").write(in: root) }
        #expect { try (root + "x").replace(withText: "é", encoding: .ascii) } throws: {
            "\($0)".contains("x: the encoding")
        }
        #expect(try root.children.isEmpty)
        try PlainNote(fileText: "a").append(in: root + "new")
        try PlainNote(fileText: "b").append(to: "note", in: root + "new")
        #expect(try PlainNote.read(in: root + "new").text == "ab")
    }

    @Test func typeWithNoMemberWritesAndReads() throws {
        #expect(SensorLog.fileName == "SensorLog.txt")
        #expect(Window.fileName == "Window.json")
        #expect(try SpawnedProcess(child: "no-member", root, ["XDG_DATA_HOME": root.path]).wait() == 0)
        #expect(try (root + "FileStorageChild").children.map(\.name) == ["SensorLog.txt", "Window.json"])
    }

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

    /// The compiler's messages about a program.
    private func mistakes(_ statement: String) throws -> String {
        let program = root + "program.swift"
        try program.replace(
            withText: """
                import FileStorage
                struct Window: Codable, FileReadWritable { var width = 1 }
                struct Panel: Codable, FileDecodable, FileEncodable { var width = 1 }
                struct Log: FileEncodable { func fileText() -> String { "" } }
                func use(_ directory: LocalFile) throws { \(statement) }
                """)
        let sources = LocalFile(#filePath).parent.parent.parent + "Sources"
        let (compiler, output) = (Process(), Pipe())
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", "-I",
            (try BuiltCommand.directory() + "Modules").path, "-Xcc",
            "-fmodule-map-file=" + (sources + "CLinux/module.modulemap").path, "-Xcc", "-D_GNU_SOURCE",
            program.path,
        ]
        compiler.standardError = output
        try compiler.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        compiler.waitUntilExit()
        #expect((compiler.terminationStatus == 0) == text.isEmpty)
        return text
    }

    /// A file with two JSON values cannot be read.
    @Test func nothingIsAppendedToJSON() throws {
        let rights = "try Log().append(in: directory); try Window().write(in: directory); try Panel().write()"
        #expect(try mistakes(rights) == "")
        #expect(try mistakes("try Window().append(in: directory)").contains("no member 'append'"))
        #expect(try mistakes("try Panel().append(in: directory)").contains("JSONForm"))
        #expect(try mistakes("try Panel().append(to: directory)").contains("JSONForm"))
        #expect(try mistakes("try Window().write(\"x\")").contains("error: "))
    }
}
