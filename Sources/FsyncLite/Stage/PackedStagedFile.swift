import FileSystem

/// How staged files are packed that wait for their lines in the log.
package enum StagedFileCoding: PackedCoding {
    package static func path(of file: StagedFile) -> RelativePath { file.path }
    package static func otherPath(of file: StagedFile) -> RelativePath? { file.location }

    package static func pack(_ file: StagedFile, into store: inout PackedStore) {
        var status = FileStatus(type: .file, modified: file.modified)
        (status.inode, status.size) = (file.inode, file.size)
        (status.created, status.changed) = (file.created, file.changed)
        store.put(status)
        store.put(file.stagedInode)
        store.put(file.isPart ? 1 : 0)
    }

    package static func unpack(
        _ cursor: inout PackedStore.Cursor, at path: RelativePath, other: RelativePath?, _ store: PackedStore
    ) -> StagedFile {
        let status = store.status(&cursor)
        return StagedFile(
            path: path, location: other ?? path, source: status, stagedInode: cursor.number(),
            isPart: cursor.number() == 1)
    }
}

extension RelativePath {
    /// - Parameter bytes: empty, or a separator and the rest of a valid path.
    func appending(bytes: ArraySlice<UInt8>) -> RelativePath { RelativePath(validated: self.bytes + bytes) }
}
