import FileSystem

@testable import FsyncLite

/// The payloads of frames.
enum Payload {
    static func of(
        _ type: WireFormat.FrameType = .data, _ write: (inout FrameWriter) throws -> Void
    ) rethrows -> [UInt8] {
        var frame = FrameWriter(type)
        try write(&frame)
        return Array(frame.bytes.dropFirst(WireFormat.headSize))
    }

    static func reader(
        _ type: WireFormat.FrameType = .data, _ write: (inout FrameWriter) throws -> Void
    ) rethrows -> FrameReader { FrameReader(try of(type, write)) }

    /// The beginning of a file.
    static func file(_ size: Int64, isPlain: Bool = true) -> FrameReader {
        reader(.file) {
            $0.size(size)
            $0.flag(isPlain)
        }
    }

    static func data(_ bytes: [UInt8], at offset: Int64) -> FrameReader {
        reader {
            $0.size(offset)
            $0.raw(bytes)
        }
    }

    /// The answer after a file's content.
    static func end(_ size: Int64, _ digest: SHA256.Value = SHA256().finish()) -> [UInt8] {
        var status = FileStatus(type: .file, modified: FileTime(seconds: 1, nanoseconds: 2))
        status.size = ByteCount(clamping: size)
        return of(.answer) {
            $0.byte(0)
            $0.status(status, device: 0)
            $0.flag(false)
            $0.byte(0)
            $0.extended(ExtendedAttributes())
            $0.digest(Digest(digest))
        }
    }
}
