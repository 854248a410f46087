import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

/// The files that were changed after they were recorded, according to the manifest.
struct EditDetectionTests {
    private let directory: TemporaryDirectory
    private let root: Directory
    private let found: FileStatus

    init() throws {
        directory = try TemporaryDirectory(inMemory: true)
        try (["f": "f"] as TreeLiteral).build(at: directory.path)
        root = try directory.open()
        found = try #require(try root.status(of: FileName("f")))
    }

    private func header(source: Bool = false, target: Bool = false) throws -> ManifestHeader {
        let own = try root.status().identity
        let other = FileIdentity(inode: 1, created: nil)
        var header = ManifestHeader(
            id: "x", root: [], created: .now,
            source: ManifestHeader.Source(path: [], identity: source ? own : other, fileSystem: "1"))
        header.rootIdentity = target ? own : other
        return header
    }

    private func record(_ change: (inout BaseStatus) -> Void = { _ in }) -> BaseStatus {
        with(
            BaseStatus(
                status: found, targetInode: found.inode, targetChanged: found.changed, marks: [], omitted: [],
                hasDigest: true), change)
    }

    private func isEdited(
        _ header: ManifestHeader?, _ record: BaseStatus, commits: CommitSpans? = nil
    ) throws -> Bool {
        let detection = with(try EditDetection(in: root, header)) { $0.policy.commitSpans = commits }
        return detection.isEdited(found, at: path("f"), since: record)
    }

    @Test func inTheSourceItsChangeTimeTells() throws {
        let header = try header(source: true)
        #expect(try !isEdited(header, record()))
        #expect(try isEdited(header, record { $0.status.changed = seconds(5) }))
        #expect(try isEdited(header, record { $0.status.inode += 1 }))
        // A file that was never compared shows nothing.
        #expect(try !isEdited(header, record { $0.status.changed = .unexamined }))
        // The target's record is of another object.
        #expect(try !isEdited(header, record { ($0.targetInode, $0.targetChanged) = (1, seconds(5)) }))
    }

    @Test func inTheTargetTheTargetsChangeTimeTells() throws {
        let header = try header(target: true)
        #expect(try !isEdited(header, record { ($0.status.inode, $0.status.changed) = (1, seconds(5)) }))
        #expect(try isEdited(header, record { $0.targetChanged = seconds(5) }))
        #expect(try isEdited(header, record { $0.targetInode += 1 }))
    }

    @Test func aCommitAccountsForItsOwnChanges() throws {
        let header = try header(target: true)
        let touched = record { $0.targetChanged = nil }
        let span = found.changed.advanced(bySeconds: -1)..<found.changed.advanced(bySeconds: 1)
        #expect(try !isEdited(header, touched, commits: CommitSpans(spans: [span])))
        let earlier = found.changed.advanced(bySeconds: -9)..<found.changed
        #expect(try isEdited(header, touched, commits: CommitSpans(spans: [earlier])))
        // After a recovery, and for an older manifest.
        #expect(try !isEdited(header, touched, commits: CommitSpans(spans: [])))
        #expect(try !isEdited(header, touched))
    }

    @Test func inAnotherTreeNothingTells() throws {
        #expect(try !isEdited(header(), record { $0.targetChanged = seconds(5) }))
        #expect(try !isEdited(nil, record { $0.status.changed = seconds(5) }))
    }
}
