import Glibc

/// The program that this process runs.
public struct OwnProgram: ~Copyable {
    private static let path = Array("/proc/self/exe".utf8)

    private let file: FileDescriptor

    public init() throws(SystemError) {
        let opened = try calling("open", OwnProgram.path) { () throws(Errno) -> Int32 in
            try withCString(terminated: OwnProgram.path + [0]) { (path) throws(Errno) -> Int32 in
                try FileDescriptor.open(AT_FDCWD, path, .read)
            }
        }
        file = FileDescriptor(owning: opened)
    }

    /// Whether it needs its machine's libraries: it has a segment of type `PT_INTERP` (3), or is not an ELF file of 64
    /// bits.
    public func needsLibraries() throws(SystemError) -> Bool {
        let header = try bytes(at: 0, 64)
        guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { return true }
        func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
            bytes.reversed().reduce(0) { $0 << 8 | Int64($1) }
        }
        let (table, size, count) = (
            number(header[32..<40]), number(header[54..<56]), number(header[56..<58])
        )
        for index in 0..<count where number(try bytes(at: table + index * size, 4)[...]) == 3 {
            return true
        }
        return false
    }

    /// Calls `body` with each piece of the program, in order.
    public func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
        var offset: Int64 = 0
        while true {
            let piece = try bytes(upTo: 256 * 1024, at: offset)
            guard !piece.isEmpty else { return }
            try body(piece)
            offset += Int64(piece.count)
        }
    }

    private func bytes(at offset: Int64, _ count: Int) throws(SystemError) -> [UInt8] {
        let bytes = try bytes(upTo: count, at: offset)
        guard bytes.count == count else { throw SystemError("pread", OwnProgram.path, .invalid) }
        return bytes
    }

    private func bytes(upTo count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
        try calling("pread", OwnProgram.path) { () throws(Errno) in
            try [UInt8](upTo: count) { (buffer) throws(Errno) in try file.read(into: buffer, at: offset) }
        }
    }
}

extension HostProcess {
    /// The kernel and the processor, as `uname -sm` prints them.
    public static var platform: String {
        var names = utsname()
        guard uname(&names) == 0 else { return "" }
        return withUnsafeBytes(of: names.sysname) { text($0) } + " "
            + withUnsafeBytes(of: names.machine) { text($0) }
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
