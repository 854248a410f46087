import FileSystem

/// Content that goes to another machine.
final class WireGoal: CopyGoal {
    private let link: ServiceLink
    private let id: UInt32
    private let hashesAll: Bool
    private var hash = SHA256()
    private var hashesContent = true
    private var position: Int64 = 0
    /// Why nothing more can be sent.
    private(set) var failure: (any Error)?

    /// A file with holes up to this size is hashed as a whole, so that it is known where it only grew.
    private static let largeSize: Int64 = 1 << 30
    private static let pieceSize = 128 * 1024

    init(_ link: ServiceLink, _ id: UInt32, keepsHoles: Bool, _ digests: CopyOptions.Digests) {
        (self.link, self.id) = (link, id)
        hashesAll = digests != .none || !keepsHoles
    }

    var path: [UInt8] { Array("the connection".utf8) }

    func begin(_ status: FileStatus, attempt: Int) throws(Errno) {
        hashesContent = hashesAll || status.allocated >= status.size || status.size <= WireGoal.largeSize
        (hash, position) = (SHA256(), 0)
        var frame = FrameWriter(.file)
        frame.number(id)
        frame.size(status.size)
        frame.flag(hashesContent)
        try send(frame)
    }

    private func send(_ frame: consuming FrameWriter) throws(Errno) {
        do {
            try link.send(frame)
        } catch {
            failure = error
            throw .cancelled
        }
    }

    func take(
        _ source: borrowing FileDescriptor, _ status: FileStatus, keepsHoles: Bool,
        _ copier: inout FileCopier, isCancelled: () -> Bool
    ) throws(Errno) -> Int64 {
        guard keepsHoles, status.allocated < status.size else {
            return try sendData(source, from: 0, to: status.size, isCancelled)
        }
        var offset: Int64 = 0
        while let data = try source.seek(offset, .data), data < status.size {
            let hole = min(try source.seek(data, .hole) ?? status.size, status.size)
            offset = try sendData(source, from: data, to: hole, isCancelled)
            if offset < hole { return offset }
        }
        return status.size
    }

    /// - Returns: where it stopped: at `end` or at the end of the file.
    private func sendData(
        _ source: borrowing FileDescriptor, from start: Int64, to end: Int64, _ isCancelled: () -> Bool
    ) throws(Errno) -> Int64 {
        var offset = start
        while offset < end {
            if isCancelled() { throw .cancelled }
            let room = Int(min(Int64(WireGoal.pieceSize), end - offset))
            let data = try [UInt8](upTo: room) { (buffer) throws(Errno) in
                try source.read(into: buffer, at: offset)
            }
            guard !data.isEmpty else { break }
            if hashesContent {
                hash.update(zeros: offset - position, isCancelled)
            } else {
                hash.update(number: offset)
                hash.update(number: Int64(data.count))
            }
            hash.update(data)
            var frame = FrameWriter(.data)
            frame.number(id)
            frame.size(offset)
            frame.raw(data)
            try send(frame)
            offset += Int64(data.count)
            position = offset
        }
        return offset
    }

    func isStart(
        of source: borrowing FileDescriptor, _ count: Int64, _ isCancelled: () -> Bool
    ) throws(FileComparison.Failure) -> Bool {
        guard hashesContent else { return false }
        do throws(Errno) {
            return try Digest(source.digest(upTo: count, isCancelled: isCancelled)) == check(upTo: count)
        } catch {
            throw FileComparison.Failure(side: .first, errno: error)
        }
    }

    func digest(_ isCancelled: () -> Bool) throws(SystemError) -> Digest { check(upTo: position) }

    /// What the other end computes of the same bytes.
    func check(upTo size: Int64) -> Digest {
        var hash = hash
        if hashesContent { hash.update(zeros: size - position) { false } }
        return Digest(hash.finish())
    }
}
