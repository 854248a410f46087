import FileSystem

/// Sends the whole content of a file to another machine.
class WireGoal: CopyGoal {
    let link: ServiceLink
    let id: UInt32
    private let options: CopyOptions
    private var hash = ContentHash(.sparse)
    /// Why nothing more can be sent.
    private(set) var failure: (any Error)?

    private static let pieceSize: Int64 = 128 * 1024

    init(_ link: ServiceLink, _ id: UInt32, _ options: CopyOptions) {
        (self.link, self.id, self.options) = (link, id, options)
    }

    var path: [UInt8] { Array("the connection".utf8) }

    /// Nothing is sent yet: `announce` does it when the holes are known.
    func begin(_ status: FileStatus, attempt: Int) throws(Errno) {}

    private func announce(_ source: borrowing FileDescriptor, _ status: FileStatus) throws(Errno) {
        var isPlain = options.digests != .none
        if isPlain, options.attributes.contains(.holes), status.allocated < status.size {
            isPlain = try source.holes(upTo: status.size.rawCount) <= options.mostHoles
        }
        hash = ContentHash(isPlain ? .plain : .sparse)
        var frame = FrameWriter(.file, for: id)
        frame.size(status.size.rawCount)
        frame.flag(isPlain)
        try send(frame)
    }

    func send(_ frame: consuming FrameWriter) throws(Errno) {
        let link = link
        try sending { [frame] in try link.send(frame) }
    }

    /// An error of the other end becomes `cancelled`, which ends the copy. The reason is in `failure`.
    func sending<Value>(_ body: () throws -> Value) throws(Errno) -> Value {
        do {
            return try body()
        } catch {
            failure = error
            throw .cancelled
        }
    }

    func take(
        _ source: borrowing FileDescriptor, _ status: FileStatus, keepsHoles: Bool,
        _ copier: inout FileCopier, isCancelled: () -> Bool
    ) throws(Errno) -> Int64 {
        try announce(source, status)
        let size = status.size.rawCount
        guard keepsHoles, status.allocated < status.size else {
            return try sendData(source, from: 0, to: size, isCancelled)
        }
        var offset: Int64 = 0
        while let data = try source.data(after: offset, upTo: size) {
            offset = try sendData(source, from: data.lowerBound, to: data.upperBound, isCancelled)
            if offset < data.upperBound { return offset }
        }
        return size
    }

    /// - Returns: the offset after the last byte: `end`, or the end of the file.
    func sendData(
        _ source: borrowing FileDescriptor, from start: Int64, to end: Int64, _ isCancelled: () -> Bool
    ) throws(Errno) -> Int64 {
        var offset = start
        while offset < end {
            let data = try read(source, offset..<offset + min(WireGoal.pieceSize, end - offset), isCancelled)
            guard !data.isEmpty else { break }
            try send(data[...], at: offset)
            offset += Int64(data.count)
        }
        return offset
    }

    /// Reads the next bytes of the file; empty at its end.
    func read(
        _ source: borrowing FileDescriptor, _ range: Range<Int64>, _ isCancelled: () -> Bool
    ) throws(Errno) -> [UInt8] {
        if isCancelled() { throw .cancelled }
        let data = try source.bytes(in: range)
        data.withUnsafeBytes { hash.add($0, at: range.lowerBound, isCancelled) }
        return data
    }

    func send(_ data: ArraySlice<UInt8>, at offset: Int64) throws(Errno) {
        var frame = FrameWriter(.data, for: id)
        frame.size(offset)
        frame.raw(data)
        try send(frame)
    }

    func isStart(
        of source: borrowing FileDescriptor, _ count: Int64, _ isCancelled: () -> Bool
    ) throws(FileComparison.Failure) -> Bool {
        do throws(Errno) {
            return try Digest(source.digest(as: hash.form, upTo: count, isCancelled: isCancelled))
                == check(upTo: count)
        } catch {
            throw FileComparison.Failure(side: .first, errno: error)
        }
    }

    func digest(mostHoles: Int64, _ isCancelled: () -> Bool) throws(SystemError) -> Digest? {
        check(upTo: hash.position)
    }

    /// The digest that the other end computes from the same bytes.
    func check(upTo size: Int64) -> Digest { Digest(hash.value(upTo: size) { false }) }
}
