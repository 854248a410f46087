import FileSystem
import FoundationEssentials

/// What a stage holds for a later run: the files that were staged whole *and* are durable.
package struct StageRecord: Codable, Sendable, Equatable {
    package static let fileName = TransactionEntry.record.description

    /// Reads the record in the directory of a stage.
    package static func read(in directory: Directory) throws -> StageRecord {
        // In bytes: room for millions of files.
        let record: StageRecord = try JSONDocument.read(
            TransactionEntry.record, in: directory, limit: 1 << 30)
        guard record.version == 1 else {
            throw SyncError(
                .invalidDocument, path: directory.path(of: TransactionEntry.record),
                "version \(record.version) is not one that this fsync-lite reads (1)")
        }
        return record
    }

    package var version = 1
    /// The name of the stage's directory.
    package var transaction: String
    /// The `MirroredAttributes` that the files were staged with: under others they are of no use.
    package var attributes = MirroredAttributes.all.rawValue
    package var files: [StagedFile] = []

    /// A staged file, with what its source was like: only the very same source may use it.
    package struct StagedFile: Sendable, Equatable {
        /// The path in the tree, and below the stage's directory.
        package var path: [UInt8]
        package var place: [UInt8]
        /// The source's, with all that a change of the file changes.
        package var inode: UInt64
        package var created: FileTime?
        package var changed: FileTime
        package var modified: FileTime
        package var size: Int64
        /// The inode of the staged copy.
        package var stagedInode: UInt64

        package init(path: [UInt8], place: [UInt8], source: FileStatus, stagedInode: UInt64) {
            self.path = path
            self.place = place
            (inode, created, changed) = (source.inode, source.created, source.changed)
            (modified, size) = (source.modified, source.size)
            self.stagedInode = stagedInode
        }

        /// The source is still as it was when it was staged.
        package func isFrom(_ source: FileStatus) -> Bool {
            self == StagedFile(path: path, place: place, source: source, stagedInode: stagedInode)
        }
    }
}

/// One string per file, in base 64 and numbers: a record has as many as the stage has files.
extension StageRecord.StagedFile: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let fields = try container.decode(String.self).split(separator: " ", omittingEmptySubsequences: false)
        func path(_ index: Int) -> [UInt8]? {
            guard let bytes = Data(base64Encoded: String(fields[index])), let path = RelativePath(bytes),
                !path.isRoot
            else { return nil }
            return path.bytes
        }
        func time(_ index: Int) -> FileTime? {
            let parts = fields[index].split(separator: ".")
            guard parts.count == 2, let seconds = Int64(parts[0]), let nanoseconds = Int32(parts[1]),
                (0..<1_000_000_000).contains(nanoseconds)
            else { return nil }
            return FileTime(seconds: seconds, nanoseconds: nanoseconds)
        }
        guard fields.count == 8, let source = path(0), let place = path(1), let inode = UInt64(fields[2]),
            let changed = time(4), let modified = time(5), let size = Int64(fields[6]),
            size >= 0, fields[3] == "-" || time(3) != nil, let stagedInode = UInt64(fields[7])
        else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no staged file.")
        }
        self.path = source
        self.place = place
        self.inode = inode
        created = time(3)
        self.changed = changed
        self.modified = modified
        self.size = size
        self.stagedInode = stagedInode
    }

    package func encode(to encoder: any Encoder) throws {
        func text(_ time: FileTime?) -> String { time.map { "\($0.seconds).\($0.nanoseconds)" } ?? "-" }
        let fields = [
            Data(path).base64EncodedString(), Data(place).base64EncodedString(), "\(inode)", text(created),
            text(changed), text(modified), "\(size)", "\(stagedInode)",
        ]
        var container = encoder.singleValueContainer()
        try container.encode(fields.joined(separator: " "))
    }
}
