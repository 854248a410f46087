import FileStorage
import Foundation
import TestSupport
import Testing

struct FileUseTests {
    private let temporary = try! TemporaryDirectory()
    private var root: LocalFile { temporary.file }

    private func tree(_ name: String) throws -> LocalFile {
        let tree = root + name
        try (tree + "a/b").makeDirectory(parents: true)
        try (tree + "a/b/f").replace(with: Data("x".utf8), permissions: 0o640)
        try (tree + "a/empty").makeDirectory(permissions: 0o700)
        try FileManager.default.createSymbolicLink(
            atPath: (tree + "a/link").path, withDestinationPath: "../nowhere")
        return tree
    }

    private func check(_ copy: LocalFile) throws {
        #expect(try (copy + "a/b/f").text() == "x")
        #expect(try (copy + "a/b/f").permissions == 0o640)
        #expect(try (copy + "a/empty").permissions == 0o700)
        #expect(try (copy + "a/link").isSymlink)
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: (copy + "a/link").path) == "../nowhere")
    }

    @Test func directoryIsCopiedWhole() throws {
        let source = try tree("s")
        try source.copy(to: root + "t")
        try check(root + "t")
        try check(source)
        #expect { try source.copy(to: root + "t") } throws: { ($0 as? SyncError)?.code == .refused }
        #expect(throws: SyncError.self) { try source.copy(to: source + "a/inside") }
        #expect(try root.children == [source, root + "t"])
        #expect(try (source + "a").children.map(\.name) == ["b", "empty", "link"])
    }

    @Test(.enabled(if: FileManager.default.isWritableFile(atPath: "/dev/shm")))
    func directoryMovesToAnotherFileSystem() throws {
        let source = try tree("s")
        let target = LocalFile("/dev/shm") + "file-storage-use-\(UUID().uuidString)"
        defer { try? target.delete(recursive: true) }
        try source.move(to: target)
        try check(target)
        #expect(try !source.exists)
        try target.move(to: source)
        try check(source)
        #expect(try !target.exists)
    }

    @Test func missingDirectoriesAreMade() throws {
        try (root + "a/b/f").replace(withText: "x")
        #expect(try (root + "a/b/f").text() == "x")
        try DiskStorage(in: root + "c/d").store(Data(), for: "k")
        #expect(try (root + "c/d/k").isFile)
        #expect(throws: SyncError.self) { try (root + "a/b/f").copy(to: root + "no/f") }
    }

    @Test func equalityIsOfThePath() {
        #expect(LocalFile("/a/b/") == LocalFile("/a//b"))
        #expect(root + "" == root)
        #expect(Set<LocalFile>(["/a", "/a/", "//a"]).count == 1)
        #expect(LocalFile("/a") != LocalFile("a"))
        let files: [LocalFile] = ["b", "a/c", "a"]
        #expect(files.sorted() == ["a", "a/c", "b"])
    }

    @Test func statusOfAFile() throws {
        let file = root + "f"
        try file.replace(with: Data(), permissions: 0o604)
        #expect(try file.isFile && !file.isSymlink && file.permissions == 0o604)
        try FileManager.default.createSymbolicLink(atPath: (root + "l").path, withDestinationPath: "f")
        #expect(try (root + "l").isFile && (root + "l").isSymlink)
        #expect(try !root.isFile && !(root + "no").isFile && !(root + "no").isSymlink)
        #expect(LocalFile(bytes: [0x61, 0xFF]).path == "a\u{FFFD}")
    }

    @Test func deleteChildrenFollowsNoSymlink() throws {
        let keep = try tree("keep")
        let directory = try tree("d")
        try FileManager.default.createSymbolicLink(
            atPath: (directory + "l").path, withDestinationPath: keep.path)
        try directory.deleteChildren()
        #expect(try directory.children.isEmpty)
        try check(keep)
        try FileManager.default.createSymbolicLink(atPath: (root + "l").path, withDestinationPath: keep.path)
        #expect(throws: SyncError.self) { try (root + "l").deleteChildren() }
        try check(keep)
    }

    @Test func utf16AppendsMakeOneText() throws {
        for (name, encoding) in [("16", String.Encoding.utf16), ("32", .utf32)] {
            let file = root + name
            for _ in 0..<3 { try file.append("é\n", encoding: encoding) }
            #expect(try file.text(encoding: encoding) == "é\né\né\n")
        }
        let big = root + "big"
        try big.replace(with: Data([0xFE, 0xFF, 0, 0x61]))
        try big.append("b", encoding: .utf16)
        #expect(try big.data() == Data([0xFE, 0xFF, 0, 0x61, 0, 0x62]))
    }

    @Test func placesAreAbsolute() throws {
        for place in [
            try LocalFile.homeDirectory, try .currentDirectory, .temporaryDirectory,
            try .configurationDirectory, try .dataDirectory, try .cacheDirectory,
        ] {
            #expect(place.path.hasPrefix("/"))
        }
    }

    @Test func placeThatIsNotAbsoluteIsIgnored() throws {
        let environment = [
            "HOME": root.path, "XDG_CONFIG_HOME": "relative", "XDG_DATA_HOME": "", "TMPDIR": "relative",
            "XDG_CACHE_HOME": (root + "cache").path,
        ]
        #expect(try SpawnedProcess(child: "places", root, environment).wait() == 0)
    }

    @Test func errorSaysWhatHappenedInFoundationToo() throws {
        do {
            _ = try (root + "missing").data()
            Issue.record("it was read")
        } catch {
            let any: any Error = error
            #expect(any.localizedDescription.contains("missing: No such file"))
        }
        #expect(
            (StorageError.notFound("k") as any Error).localizedDescription.contains("k: nothing is stored"))
    }
}
