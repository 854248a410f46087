import FileStorage
import FileSystem

/// The files of a tree in the format of `sha256sum --check`, to be run in the directory itself:
///
///     digest  ./2026/a.jpg
///
/// In a name, backslash, line feed and carriage return are written as `\\`, `\n` and `\r`, and a backslash before the
/// digest marks such a line. The `./` keeps a file named `-` from being standard input.
struct ChecksumExport {
    var text: [UInt8] = []

    mutating func append(_ path: RelativePath, _ digest: Digest) {
        let isEscaped = path.bytes.contains { ChecksumExport.escape($0) != nil }
        if isEscaped { text.append(UInt8(ascii: "\\")) }
        digest.appendDigits(to: &text)
        text += "  ./".utf8
        for byte in path.bytes {
            if let letter = ChecksumExport.escape(byte) {
                text += [UInt8(ascii: "\\"), letter]
            } else {
                text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\n"))
    }

    private static func escape(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\\"): byte
        case UInt8(ascii: "\n"): UInt8(ascii: "n")
        case UInt8(ascii: "\r"): UInt8(ascii: "r")
        default: nil
        }
    }
}

extension Tree {
    /// Writes a line for each file. Files of a directory or a target without a digest are read.
    ///
    /// - Returns: the problems of files that could not be read and are left out.
    /// - Throws: `SyncError`: `inputMissing` for a manifest file without digests.
    package func writeChecksums(to sink: inout some ByteSink & ~Copyable) throws -> [Problem] {
        let stream = try stream()
        let digests = try directory().map { directory in
            FilePipeline(threads: Processors.defaultThreads) {
                FileDigests(reader: DigestReader(PathResolver(directory), monitor: SilentMonitor()))
            }
        }
        defer { digests?.close() }
        var export = ChecksumExport()
        var problems: [Problem] = []
        func take(_ answer: FileDigests.Answer) {
            let file = answer.file.with(answer.found, &problems)
            if let digest = file.digest { export.append(file.path, digest) }
        }
        while try stream.advance() {
            guard stream.status.type == .file else { continue }
            if let digests {
                let isRead = stream.digest == nil
                try digests.add(
                    (stream.file, isRead ? stream.path : nil), bytes: isRead ? stream.status.size : 0
                ) { take($0) }
            } else {
                guard let digest = stream.digest else {
                    let hint =
                        isSnapshot
                        ? "export a copy, made with: fsync-lite snapshot restore"
                        : "make it with: fsync-lite manifest create --digest"
                    throw SyncError(
                        .inputMissing, path: path, "the digest of \(stream.path) is not in it; \(hint)")
                }
                export.append(stream.path, digest)
            }
            try sink.take(&export.text)
        }
        try digests?.finish { take($0) }
        try sink.take(&export.text)
        return problems
    }
}
