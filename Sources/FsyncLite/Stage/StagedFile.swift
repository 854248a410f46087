import FileSystem
import FoundationEssentials

/// A staged file, with the state of its source. It is used again only if it is complete and the source is unchanged.
package struct StagedFile: Sendable, Equatable {
    /// The path in the tree, and below the stage's directory.
    package var path: RelativePath
    package var location: RelativePath
    /// The source's inode, and other fields of which every change of the file alters at least one.
    package var inode: UInt64
    package var created: FileTime?
    package var changed: FileTime
    package var modified: FileTime
    package var size: ByteCount
    /// The inode of the staged copy.
    package var stagedInode: UInt64
    /// Whether the copy is a part. Then only content of the source that it lacks is copied.
    package var isPart: Bool

    package init(
        path: RelativePath, location: RelativePath, source: FileStatus, stagedInode: UInt64,
        isPart: Bool = false
    ) {
        (self.path, self.location, self.stagedInode, self.isPart) = (path, location, stagedInode, isPart)
        (inode, created, changed) = (source.inode, source.created, source.changed)
        (modified, size) = (source.modified, source.size)
    }

    /// Whether it is complete, and the source is unchanged since it was staged.
    package func isFrom(_ source: FileStatus) -> Bool {
        self == StagedFile(path: path, location: location, source: source, stagedInode: stagedInode)
    }
}

/// A line of the log has the paths in base 64, then numbers. A part of a copy has `part` at the end.
extension StagedFile {
    package var line: String {
        var line: [UInt8] = []
        func append(_ number: Int64) {
            if number < 0 { line.append(UInt8(ascii: "-")) }
            line.appendDecimal(number.magnitude)
        }
        func append(_ time: FileTime?) {
            if let time {
                append(time.rawSeconds)
                line.append(UInt8(ascii: "."))
                append(Int64(time.nanoseconds))
            } else {
                line.append(UInt8(ascii: "-"))
            }
            line.append(UInt8(ascii: " "))
        }
        for path in [path, location] {
            line.append(contentsOf: Data(path.bytes).base64EncodedString().utf8)
            line.append(UInt8(ascii: " "))
        }
        line.appendDecimal(inode)
        line.append(UInt8(ascii: " "))
        append(created)
        append(changed)
        append(modified)
        append(size.rawCount)
        line.append(UInt8(ascii: " "))
        line.appendDecimal(stagedInode)
        if isPart { line.append(contentsOf: " part".utf8) }
        return String(decoding: line, as: UTF8.self)
    }

    /// nil for an invalid line.
    package init?(line: some Collection<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        func path(_ index: Int) -> RelativePath? {
            guard let bytes = Data(base64Encoded: fields[index]), let path = RelativePath(Array(bytes)),
                !path.isRoot
            else { return nil }
            return path
        }
        func time(_ index: Int) -> FileTime? {
            let parts = fields[index].split(separator: ".")
            guard parts.count == 2, let seconds = Int64(parts[0]), let nanoseconds = Int32(parts[1]),
                (0..<1_000_000_000).contains(nanoseconds)
            else { return nil }
            return FileTime(seconds: seconds, nanoseconds: nanoseconds)
        }
        isPart = fields.count == 9
        guard fields.count == 8 || fields.count == 9 && fields[8] == "part", let source = path(0),
            let location = path(1), let inode = UInt64(fields[2]),
            fields[3] == "-" || time(3) != nil, let changed = time(4), let modified = time(5),
            let size = Int64(fields[6]).flatMap(ByteCount.init(exactly:)), let stagedInode = UInt64(fields[7])
        else { return nil }
        (self.path, self.location, self.inode, created) = (source, location, inode, time(3))
        (self.changed, self.modified, self.size, self.stagedInode) = (changed, modified, size, stagedInode)
    }
}
