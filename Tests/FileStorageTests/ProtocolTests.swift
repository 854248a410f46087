import FileStorage
import Foundation
import TestSupport
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
    private let temporary = try! TemporaryDirectory()
    private var root: LocalFile { temporary.file }

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
