import FileSystem

/// A staged file that waits for its line in the log. Its path is the plan's, and its location is made from it.
struct PackedStagedFile: Sendable {
    private let path: RelativePath
    private let location: Location
    private let inode, stagedInode: UInt64
    private let size: Int64
    private let created: FileTime?
    private let changed, modified: FileTime

    private enum Location {
        /// A slot, and the number of bytes at the end of the path that follow it.
        case slot(UInt32, rest: UInt32)
        case other(RelativePath)
    }

    init(_ file: StagedFile) {
        (path, inode, stagedInode, size) = (file.path, file.inode, file.stagedInode, file.size)
        (created, changed, modified) = (file.created, file.changed, file.modified)
        location = PackedStagedFile.location(file) ?? .other(file.location)
    }

    private static func location(_ file: StagedFile) -> Location? {
        let slash = UInt8(ascii: "/")
        let (path, location) = (file.path.bytes, file.location.bytes)
        let parts = location.split(separator: slash, maxSplits: 2)
        guard parts.count >= 2, let directory = number(parts[0]), let name = number(parts[1]) else {
            return nil
        }
        let rest = parts.count == 3 ? parts[2].count + 1 : 0
        guard rest <= path.count, path.suffix(rest) == location.suffix(rest), path.count <= Int32.max,
            name < UInt32(OperationGraph.slotsPerDirectory), directory < 400_000
        else { return nil }
        return .slot(directory * UInt32(OperationGraph.slotsPerDirectory) + name, rest: UInt32(rest))
    }

    /// nil for other text than the number's own.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt32? {
        let text = String(decoding: digits, as: UTF8.self)
        return UInt32(text).flatMap { "\($0)" == text ? $0 : nil }
    }

    var file: StagedFile {
        var status = FileStatus(type: .file, modified: modified)
        (status.inode, status.size, status.created, status.changed) = (inode, size, created, changed)
        return StagedFile(path: path, location: wholeLocation, source: status, stagedInode: stagedInode)
    }

    private var wholeLocation: RelativePath {
        switch location {
        case .slot(let number, let rest):
            OperationGraph.path(ofSlot: Int(number)).appending(bytes: path.bytes.suffix(Int(rest)))
        case .other(let location): location
        }
    }
}

extension RelativePath {
    /// - Parameter bytes: empty, or a separator and the rest of a valid path.
    func appending(bytes: ArraySlice<UInt8>) -> RelativePath { RelativePath(validated: self.bytes + bytes) }
}
