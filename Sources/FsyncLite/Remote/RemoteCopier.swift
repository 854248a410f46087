import FileStorage
import FileSystem

/// Copies files from another machine, on one thread. The far end tries three times where a file changes meanwhile.
final class RemoteCopier: FileSource {
    private let tree: RemoteTree
    private let options: CopyOptions
    private let monitor: any Monitor
    private var advanced: (Int) -> Void = { _ in }
    private var ahead = RequestsAhead<RelativePath>()

    init(_ tree: RemoteTree, _ options: CopyOptions, _ monitor: any Monitor) {
        (self.tree, self.options, self.monitor) = (tree, options, monitor)
    }

    deinit { ahead.abandon() }

    func onCopy(_ body: @escaping (Int) -> Void) { advanced = body }
    var readsContent: Bool { true }

    func announce(_ files: [File]) {
        ahead.abandon()
        for file in files where file.isFile && !tree.link.isBusy {
            guard let answer = try? ask(file.path) else { return }
            ahead.add(file.path, answer)
        }
    }

    private func ask(_ path: RelativePath) throws -> RemoteLink.Answer {
        try tree.link.ask(.content) { tree.locate(path, in: &$0) }
    }

    func copy(_ file: File, to staged: borrowing ObjectHandle, attempt: Int) throws -> File? {
        let answer = try ahead.take(file.path) ?? ask(file.path)
        var end: [UInt8] = []
        var copy = ReceivedContent()
        do {
            while true {
                switch try answer.next(monitor) {
                case .file(let bytes):
                    try tree.link.reading { try copy.begin(bytes) }
                    if copy.attempt > 1 || attempt > 1 {
                        try write(staged) { (descriptor) throws(Errno) in try descriptor.truncate(to: 0) }
                    }
                case .data(let bytes):
                    let (offset, data) = try tree.link.reading {
                        try copy.take(bytes) { monitor.isCancelled }
                    }
                    try write(staged) { (descriptor) throws(Errno) in
                        try data.withUnsafeBytes { buffer in
                            Result { () throws(Errno) in try descriptor.write(buffer, at: offset) }
                        }.get()
                    }
                    advanced(data.count)
                    options.limit?.wait(for: data.count) { monitor.isCancelled }
                    try monitor.checkCancellation()
                case .end(let piece, let isLast):
                    end += piece
                    guard isLast else { continue }
                    let result = try tree.link.reading {
                        try copy.end(end, file, options.extended) { monitor.isCancelled }
                    }
                    if copy.endsWithHole {
                        try write(staged) { [size = result.size] (descriptor) throws(Errno) in
                            try descriptor.truncate(to: size)
                        }
                    }
                    var copied = result
                    if options.digests == .none { copied.digest = nil }
                    return copied
                case .entries, .failure: throw WireError("an answer of another kind than was asked for")
                }
            }
        } catch {
            answer.abandon()
            try monitor.checkCancellation()
            throw error
        }
    }

    private func write(
        _ staged: borrowing ObjectHandle, _ body: (borrowing FileDescriptor) throws(Errno) -> Void
    ) throws(SystemError) {
        do throws(Errno) {
            try body(staged.descriptor)
        } catch {
            throw SystemError("write", staged.path, error)
        }
    }
}

/// The content of one file as it comes: the far end's word about it is checked.
struct ReceivedContent {
    private(set) var attempt = 0
    /// The file's size when it was opened there.
    private var size: Int64 = 0
    /// Where the bytes so far end.
    private var position: Int64 = 0
    private var hash = SHA256()
    /// Holes are hashed as zeros; otherwise the pieces with their offsets are.
    private var hashesContent = true
    /// The size of the copy is not the end of its last piece.
    private(set) var endsWithHole = false

    /// Attempts at the far end.
    static let attempts = 3

    mutating func begin(_ bytes: [UInt8]) throws(WireError) {
        var reader = FrameReader(bytes)
        guard attempt < ReceivedContent.attempts else { throw WireError("a file begins too often") }
        attempt += 1
        size = try reader.size()
        hashesContent = try reader.flag()
        try reader.end()
        (position, hash) = (0, SHA256())
    }

    /// - Returns: bytes to write, and where.
    mutating func take(
        _ bytes: [UInt8], _ isCancelled: () -> Bool
    ) throws(WireError) -> (offset: Int64, data: ArraySlice<UInt8>) {
        var reader = FrameReader(bytes)
        guard attempt > 0 else { throw WireError("data of no file") }
        let offset = try reader.size()
        let data = reader.rest()
        guard !data.isEmpty, offset >= position, offset <= size, Int64(data.count) <= size - offset else {
            throw WireError("data beyond the end of its file, or twice")
        }
        if hashesContent {
            hash.update(zeros: offset - position, isCancelled)
        } else {
            hash.update(number: offset)
            hash.update(number: Int64(data.count))
        }
        data.withUnsafeBytes { hash.update($0) }
        position = offset + Int64(data.count)
        return (offset, data)
    }

    /// - Returns: the file as copied.
    mutating func end(
        _ bytes: [UInt8], _ file: File, _ selection: ExtendedAttributes.Selection, _ isCancelled: () -> Bool
    ) throws -> File {
        var reader = FrameReader(bytes)
        switch try reader.byte() {
        case 0: break
        case 1:
            try reader.end()
            throw Unstageable.vanished
        case 2:
            var problem = try reader.problem()
            try reader.end()
            // The path of the other machine becomes that of the file that was asked for.
            problem = Problem(path: file.path, code: problem.code, message: problem.message)
            throw Unstageable.failed(problem)
        default: throw WireError("an unknown result")
        }
        let status = try reader.status()
        let isGrowing = try reader.flag()
        let extended = try reader.extended(selection)
        let digest = try reader.digest()
        try reader.end()
        guard attempt > 0, status.type == .file, status.size >= position, status.size <= size else {
            throw WireError("a file of another size than came")
        }
        endsWithHole = status.size > position
        if hashesContent { hash.update(zeros: status.size - position, isCancelled) }
        guard Digest(hash.finish()) == digest else {
            throw WireError("the content of \(file.path) is not what its digest says")
        }
        var result = file.with(isGrowing ? status.unexamined : status)
        (result.extended, result.isGrowing) = (extended, isGrowing)
        result.digest = hashesContent ? digest : nil
        return result
    }
}

extension SHA256 {
    private static let zeros = [UInt8](repeating: 0, count: 64 * 1024)

    /// Takes a hole.
    mutating func update(zeros count: Int64, _ isCancelled: () -> Bool) {
        var rest = count
        while rest > 0, !isCancelled() {
            let piece = min(rest, Int64(SHA256.zeros.count))
            SHA256.zeros.withUnsafeBytes { update(UnsafeRawBufferPointer(rebasing: $0[..<Int(piece)])) }
            rest -= piece
        }
    }

    mutating func update(number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { update($0) }
    }
}
