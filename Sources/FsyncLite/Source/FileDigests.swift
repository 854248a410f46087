import FileSystem

/// Computes the digests of files, whose present paths may differ from those of their entries.
struct FileDigests: FileWorker {
    /// The digest is nil if there is no such file, or if it was still changing at the third attempt. All of it is nil
    /// for an entry that was not read.
    typealias Answer = (file: File, found: Result<DigestReader.Found?, SystemError>?)

    let reader: any DigestSource

    /// - Parameter location: nil for an entry that is not read.
    func announce(_ entries: [(file: File, location: RelativePath?)]) {
        reader.announce(entries.compactMap(\.location))
    }

    func value(of entry: (file: File, location: RelativePath?)) throws -> Answer {
        guard let location = entry.location else { return (entry.file, nil) }
        do {
            return (entry.file, .success(try reader.digest(of: location)))
        } catch let error as SystemError {
            return (entry.file, .failure(error))
        }
    }
}

extension File {
    /// The entry with its digest, and with the status of the file while it was read. Or the reason why it could not be
    /// read is added to the problems.
    func with(_ found: Result<DigestReader.Found?, SystemError>?, _ problems: inout [Problem]) -> File {
        var file = self
        switch found {
        case nil: break
        case .success(let found?)?:
            file = with(found.status)
            file.digest = found.digest
        case .success(nil)?:
            problems.append(Problem(path: path, code: .changing, message: "it changed while it was read"))
        case .failure(let error)?:
            problems.append(.unreadable(path, error.errno))
        }
        return file
    }
}
