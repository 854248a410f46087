import FileStorage
import FileSystem
import FoundationEssentials
import TestNeeds
import TestSupport
import Testing

struct LocalFileTests {
    @Test(.needs(.mounts)) func aReadOnlyDiskLeavesTheOldContent() throws {
        let directory = try TemporaryDirectory()
        try TestDisk.tmpfs(options: "size=1m").mounted(at: directory.path) {
            let file = LocalFile("\(directory.path)/f")
            try file.replace(withText: "old")
            try HostCommand.run("mount", "-o", "remount,ro", directory.path)
            let calls: [(LocalFile) throws -> Void] = [
                { try $0.replace(withText: "new") }, { try $0.append("new") }, { try $0.delete() },
                { try $0.move(to: LocalFile("\(directory.path)/g")) },
            ]
            for call in calls {
                let error = #expect(throws: SyncError.self) { try call(file) }
                #expect(
                    error?.errno == Errno.readOnlyFileSystem.rawValue && error?.path != nil,
                    "\(String(describing: error))")
            }
            #expect(try file.text() == "old")
        }
    }

    let temporary = try! TemporaryDirectory()
    var root: LocalFile { temporary.file }

    private func make(_ name: String, _ text: String = "") throws -> LocalFile {
        let file = root + name
        try file.replace(withText: text)
        return file
    }

    @Test(arguments: [
        ("a.tar.gz", "a.tar", ".gz"), ("Makefile", "Makefile", ""), (".bashrc", ".bashrc", ""),
        ("a.", "a.", ""),
        ("..a", "..a", ""), (".a.b", ".a", ".b"), ("é.ü", "é", ".ü"),
        ("a.\u{301}b", "a", ".\u{301}b"),
    ])
    func nameAndExtensionAreTheName(_ name: String, _ stem: String, _ suffix: String) {
        let file = LocalFile("/x") + name
        #expect(file.nameWithoutExtension == stem)
        #expect(file.extension == suffix)
        #expect(file.extensionWithoutDot.unicodeScalars.elementsEqual(suffix.unicodeScalars.dropFirst()))
    }

    @Test(arguments: [
        ("/a/b", "/a", "b"), ("a", ".", "a"), ("/a", "/", "a"), ("a//b//", "a", "b"), ("/", "/", ""),
        ("", ".", ""),
    ])
    func pathIsSplitAtTheLastName(_ path: String, _ parent: String, _ name: String) {
        #expect(LocalFile(path).parent == LocalFile(parent))
        #expect(LocalFile(path).name == name)
    }

    @Test func nonUTF8PathStaysTheSameBytes() throws {
        let file = LocalFile(bytes: root.bytes + [UInt8(ascii: "/"), 0xFF])
        try file.replace(withText: "x")
        #expect(try root.children == [file])
        #expect(try file.text() == "x")
        #expect(file.url.absoluteString.hasSuffix("/%FF"))
        #expect(file.description.hasSuffix("/\\xFF"))
    }

    @Test func urlOfRelativePathCountsFromWorkingDirectory() {
        let url = LocalFile("a:b c").url
        #expect(url.isFileURL)
        #expect(
            url.path == URL.currentDirectory().path + (URL.currentDirectory().path == "/" ? "" : "/")
                + "a:b c")
    }

    @Test func fileURLIsAPath() throws {
        for file in [LocalFile("/a b/é%41"), LocalFile(bytes: [0x2F, 0xFF, 0x25]), LocalFile("/")] {
            #expect(LocalFile(file.url) == file)
        }
        let relative = try #require(LocalFile(LocalFile("a").url))
        #expect(relative.bytes == (try LocalFile("a").absolute()))
        #expect(LocalFile(try #require(URL(string: "file://localhost/a"))) == LocalFile("/a"))
        for text in ["https://example.org/a", "file://elsewhere/a", "a"] {
            #expect(LocalFile(try #require(URL(string: text))) == nil)
        }
    }

    @Test func childrenAreSortedByBytes() throws {
        for name in ["b", "a", "é", "B", "a.b", "a-b"] { _ = try make(name) }
        #expect(try root.children.map(\.name) == ["B", "a", "a-b", "a.b", "b", "é"])
    }

    @Test func statusTellsSizeAndDates() throws {
        let start = Date()
        let file = try make("f", "four")
        #expect(try file.size == 4)
        #expect(abs(try file.modificationDate.timeIntervalSince(start)) < 10)
        #expect(try !file.isDirectory)
        #expect(try root.isDirectory)
        #expect(try LocalFile("/").isDirectory && LocalFile(".").exists)
    }

    @Test func existsIsFalseOnlyWhereNothingIs() throws {
        let file = try make("f")
        try temporary.makeSymlink("dangling", to: "nowhere")
        #expect(try file.exists)
        #expect(try (root + "dangling").exists)
        #expect(try !(root + "missing").exists)
        #expect(try !(root + "missing/below").exists)
        #expect { try (file + "below").exists } throws: {
            ($0 as? SyncError)?.errno == Errno.notDirectory.rawValue
        }
    }

    @Test func pathWithNULIsRefused() throws {
        _ = try make("f", "secret")
        #expect(throws: SyncError.self) { try LocalFile(bytes: root.bytes + Array("/f\0.log".utf8)).data() }
        #expect(throws: SyncError.self) { try LocalFile(bytes: root.bytes + Array("\0/f".utf8)).data() }
        #expect(throws: SyncError.self) { try LocalFile(bytes: root.bytes + [0]).children }
    }

    @Test func readingMissingFileIsNotFoundAndNoMissingInput() throws {
        #expect { try (root + "missing").data() } throws: { error in
            guard let error = error as? SyncError else { return false }
            return error.isNotFound && error.code == .failed && error.path == (root + "missing").bytes
        }
    }

    @Test func invalidUTF8IsInvalidDocument() throws {
        let file = root + "f"
        try file.replace(with: Data([0x61, 0xFF]))
        #expect { try file.text() } throws: { ($0 as? SyncError)?.code == .invalidDocument }
    }

    @Test func concurrentAppendersDoNotInterleave() async throws {
        let file = root + "log"
        let line = String(repeating: "x", count: 5000) + "\n"
        await withThrowingTaskGroup { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<25 { try file.append(line) } } }
        }
        #expect(try file.text() == String(repeating: line, count: 100))
    }

    @Test func replaceKeepsPermissionsAndLeavesNothingBehind() throws {
        let file = try make("f", "old")
        try file.replace(with: Data("x".utf8), permissions: 0o606)
        try file.replace(withText: "new")
        let status = try #require(try temporary.open().status(of: FileName("f")))
        #expect(status.permissions == 0o606)
        #expect(try file.text() == "new")
        #expect(try root.children == [file])
    }

    @Test func replaceDoesNotWriteThroughSymlink() throws {
        let other = try make("other", "safe")
        try temporary.makeSymlink("link", to: "other")
        try (root + "link").replace(withText: "new")
        #expect(try other.text() == "safe")
        #expect(try (root + "link").text() == "new")
    }

    @Test func makeDirectoryRefusesTakenName() throws {
        try (root + "a/b/c").makeDirectory(parents: true)
        try (root + "a/b/c").makeDirectory(parents: true)
        #expect { try (root + "a").makeDirectory() } throws: { ($0 as? SyncError)?.code == .refused }
        _ = try make("f")
        #expect(throws: SyncError.self) { try (root + "f/g").makeDirectory(parents: true) }
    }

    @Test func deleteRefusesDirectoryThatIsNotEmpty() throws {
        let directory = root + "d"
        try (directory + "f").append("x")
        #expect { try directory.delete() } throws: { ($0 as? SyncError)?.code == .refused }
        #expect(try (directory + "f").exists)
        try directory.delete(recursive: true)
        #expect(try !directory.exists)
        #expect { try directory.delete(recursive: true) } throws: { ($0 as? SyncError)?.isNotFound == true }
    }

    @Test func recursiveDeleteFollowsNoSymlink() throws {
        try (root + "outside/f").append("x")
        try temporary.makeSymlink("top", to: "outside")
        try (root + "top").delete(recursive: true)
        #expect(try root.children == [root + "outside"])
        #expect(try (root + "outside/f").exists)
    }

    // MARK: Copy, move, rename

    enum Transfer: CaseIterable, Sendable {
        case copy, move, rename, moveAcross
    }

    private func transfer(_ kind: Transfer, _ source: LocalFile, _ target: LocalFile, force: Bool) throws {
        switch kind {
        case .copy: try source.copy(to: target, force: force)
        case .move, .moveAcross: try source.move(to: target, force: force)
        case .rename: #expect(try source.rename(to: target.name, force: force) == target)
        }
    }

    @Test(arguments: Transfer.allCases)
    func forceDecidesAboutTakenName(_ kind: Transfer) throws {
        var other: LocalFile?
        if kind == .moveAcross {
            guard Need.otherFileSystem.isThere() else { return }
            let path = try #require(TemporaryDirectory.onOtherFileSystem)
            other = LocalFile(path) + "fsync-lite-test-\(UUID().uuidString)"
            try other?.makeDirectory()
        }
        defer { try? other?.delete(recursive: true) }
        let source = root + "source"
        try source.replace(with: Data("new".utf8), permissions: 0o640)
        let before = try #require(try root.directory().status(of: FileName("source")))
        let target = (other ?? root) + "target"
        try target.replace(withText: "old")

        #expect { try transfer(kind, source, target, force: false) } throws: { error in
            guard let error = error as? SyncError else { return false }
            return error.code == .refused && error.path == target.bytes
        }
        #expect(try target.text() == "old")
        #expect(try source.text() == "new")

        try transfer(kind, source, target, force: true)
        #expect(try target.text() == "new")
        if kind != .copy {
            let after = try #require(try target.parent.directory().status(of: FileName("target")))
            #expect(after.permissions == 0o640 && after.modified == before.modified)
        }
        #expect(try source.exists == (kind == .copy))

        let fresh = (other ?? root) + "fresh"
        try transfer(kind, kind == .copy ? source : make("source", "new"), fresh, force: false)
        #expect(try fresh.text() == "new")
        #expect(
            try target.parent.children.map(\.name)
                == (kind == .copy ? ["fresh", "source", "target"] : ["fresh", "target"]))
    }

    @Test func moveOntoOtherNameOfSameFileLeavesOneName() throws {
        let source = try make("a", "x")
        try temporary.makeHardLink("b", to: "a")
        try source.move(to: root + "b", force: true)
        #expect(try root.children.map(\.name) == ["b"])
        try temporary.makeHardLink("c", to: "b")
        try (root + "b").move(to: root + "b", force: true)
        #expect(try root.children.map(\.name) == ["b", "c"])
    }

    @Test func copyOntoItselfLosesNothing() throws {
        let file = try make("a", "x")
        try file.copy(to: file, force: true)
        #expect(try file.text() == "x")
    }

    @Test func forceDoesNotReplaceDirectory() throws {
        let file = try make("a", "x")
        try (root + "d/e").makeDirectory(parents: true)
        #expect(throws: SyncError.self) { try file.copy(to: root + "d", force: true) }
        #expect(throws: SyncError.self) { try file.move(to: root + "d", force: true) }
        #expect(try (root + "d/e").isDirectory)
        #expect(try root.children.map(\.name) == ["a", "d"])
    }

    @Test(arguments: ["", ".", "..", "a/b", "a\0"])
    func renameTakesSingleNames(_ name: String) throws {
        let file = try make("f")
        #expect { try file.rename(to: name, force: true) } throws: { ($0 as? SyncError)?.code == .usage }
    }
}
