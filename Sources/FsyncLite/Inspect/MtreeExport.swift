import FileSystem

/// A tree as a specification for `mtree(8)`: one line for each entry, with its full path.
///
///     ./2026/a.jpg type=file uid=0 gid=0 mode=0644 time=1763632800.123456789 size=4194304 sha256=...
///
/// Known digests are written. Link counts, extended attributes and the root's attributes are left out. Names are
/// encoded as by `vis(3)`: a backslash and three octal digits for every byte that may be special.
struct MtreeExport {
    var text: [UInt8] = Array(
        // The state is not part of a target's tree.
        "#mtree\n. type=dir\n./.fsync-lite type=dir optional ignore\n".utf8)

    mutating func append(_ entry: any EntryStream) {
        let status = entry.status
        text += "./".utf8
        appendEncoded(entry.path.bytes)
        text += " type=".utf8
        text += type(status.type).utf8
        append(" uid=", UInt64(status.owner))
        append(" gid=", UInt64(status.group))
        if status.type != .symlink {
            text += " mode=0".utf8
            text += String(status.permissions, radix: 8).utf8
        }
        // Nanoseconds count forward from the second, also before 1970.
        append(status.modified.rawSeconds < 0 ? " time=-" : " time=", status.modified.rawSeconds.magnitude)
        text.append(UInt8(ascii: "."))
        text.appendDecimal(UInt64(status.modified.nanoseconds), digits: 9)
        switch status.type {
        case .file:
            append(" size=", status.size.rawCount.magnitude)
            if let digest = entry.digest {
                text += " sha256=".utf8
                digest.appendDigits(to: &text)
            }
        case .symlink:
            text += " link=".utf8
            appendEncoded(entry.destination)
        case .characterDevice, .blockDevice:
            text += " device=native,\(status.represents.major),\(status.represents.minor)".utf8
        case .directory, .fifo, .socket:
            break
        }
        text.append(UInt8(ascii: "\n"))
    }

    private func type(_ type: FileType) -> String {
        switch type {
        case .file: "file"
        case .directory: "dir"
        case .symlink: "link"
        case .fifo: "fifo"
        case .characterDevice: "char"
        case .blockDevice: "block"
        case .socket: "socket"
        }
    }

    private mutating func append(_ keyword: StaticString, _ number: UInt64) {
        keyword.withUTF8Buffer { text.append(contentsOf: $0) }
        text.appendDecimal(number)
    }

    private mutating func appendEncoded(_ bytes: [UInt8]) {
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "-")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                text.append(byte)
            default:
                text.append(UInt8(ascii: "\\"))
                for shift in [6, 3, 0] as [UInt8] { text.append(UInt8(ascii: "0") + (byte >> shift & 7)) }
            }
        }
    }
}

extension Tree {
    /// Writes a specification with which `mtree -p DIRECTORY` compares a directory.
    package func writeMtree(to sink: inout some ByteSink & ~Copyable) throws {
        let stream = try stream()
        var export = MtreeExport()
        while try stream.advance() {
            export.append(stream)
            try sink.take(&export.text)
        }
        try sink.take(&export.text)
    }
}
