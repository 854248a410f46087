import FileSystem
import Foundation
import TestSupport
import Testing

struct FileSystemCapabilitiesTests {
    private func fault(_ name: String, _ change: (inout FileSystemCapabilities.NameRules) -> Void) -> String?
    {
        fault(Array(name.utf8), change)
    }

    private func fault(
        _ name: [UInt8], _ change: (inout FileSystemCapabilities.NameRules) -> Void
    ) -> String? {
        var rules = FileSystemCapabilities.NameRules()
        change(&rules)
        return rules.fault(of: name)
    }

    @Test func namesThatCannotBeTakenSayWhy() {
        #expect(fault("a:b") { $0.forbidden = [UInt8(ascii: ":")] } == "takes no name with ':'")
        #expect(fault("ab") { $0.forbidden = [UInt8(ascii: ":")] } == nil)
        #expect(
            fault("a.") { $0.forbiddenAtEnd = [UInt8(ascii: ".")] } == "takes no name that ends with a dot")
        #expect(fault(".a") { $0.forbiddenAtEnd = [UInt8(ascii: ".")] } == nil)
        #expect(fault([0xFF]) { $0.mustBeUTF8 = true } == "takes only names in UTF-8")
        #expect(fault("é") { $0.mustBeUTF8 = true } == nil)
        #expect(fault("nul.txt") { $0.reservesDeviceNames = true } == "keeps the name NUL for a device")
        #expect(fault("null") { $0.reservesDeviceNames = true } == nil)
        #expect(fault(String(repeating: "n", count: 144)) { $0.longest = 143 } != nil)
    }

    @Test func completeFileSystemIsNotProbed() throws {
        let directory = try TemporaryDirectory(inMemory: true).open()
        #expect(try FileSystemCapabilities(of: directory).isComplete)
        #expect(try directory.asTarget() === directory)
    }

    /// The probe on a file system that can do everything.
    @Test func probeFindsWhatThereIsAndLeavesNothing() throws {
        let temporary = try TemporaryDirectory(inMemory: true)
        try TreeTime(1000).set(on: temporary.path)
        var known = FileSystemCapabilities(name: "pretended")
        (known.isComplete, known.refusesToReplace, known.exchangesNames) = (false, false, false)
        known.names.foldsCase = true
        let fileSystem = TargetFileSystem(known)
        try temporary.open().asTarget(on: fileSystem).probe()
        let found = fileSystem.capabilities
        #expect(found.refusesToReplace && found.exchangesNames && !found.names.foldsCase)
        #expect(found.timeStep == 1 && found.names == FileSystemCapabilities.NameRules())
        #expect(found.stored.isSuperset(of: [.permissions, .hardLinks, .symlinks, .fifos, .outwardSymlinks]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
        #expect(try temporary.open().status().modified == FileTime(seconds: 1000, nanoseconds: 0))
    }

    @Test func inodesThatDoNotLastReadAsNone() throws {
        let temporary = try TemporaryDirectory(inMemory: true)
        try ("text" as TreeLiteral).build(at: "\(temporary.path)/file")
        try temporary.makeHardLink("other", to: "file")
        var capabilities = FileSystemCapabilities(name: "pretended")
        (capabilities.isComplete, capabilities.keepsInodes) = (false, false)
        let directory = try temporary.open().asTarget(on: TargetFileSystem(capabilities))
        let (seen, real) = (
            try #require(try directory.status(of: FileName("file"))),
            try #require(try directory.trueStatus(of: FileName("file")))
        )
        #expect(seen.inode == 0 && seen.created == nil && seen.links == 1)
        #expect(real.inode != 0 && real.links == 2)
        #expect(try directory.isSame(as: temporary.open()))
    }
}
