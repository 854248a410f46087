import FileStorage
import FileSystem
import FsyncLite

/// Entries as lines for people. Lines are built in place, because there may be millions.
struct EntryText {
    var bytes: [UInt8] = []

    /// Such as `-rw-r--r-- 1000:1000      4194304 2026-11-20 11:00:00 a.jpg`.
    mutating func appendLong(_ entry: any EntryStream) {
        let status = entry.status
        appendMode(status)
        bytes.append(UInt8(ascii: " "))
        bytes.appendDecimal(UInt64(status.owner))
        bytes.append(UInt8(ascii: ":"))
        bytes.appendDecimal(UInt64(status.group))
        bytes.append(UInt8(ascii: " "))
        let start = bytes.count
        switch status.type {
        case .characterDevice, .blockDevice:
            bytes.appendDecimal(UInt64(status.represents.major))
            bytes.append(UInt8(ascii: ":"))
            bytes.appendDecimal(UInt64(status.represents.minor))
        case .file, .symlink: bytes.appendDecimal(status.size.rawCount.magnitude)
        case .directory, .fifo, .socket: bytes.append(UInt8(ascii: "-"))
        }
        let padding = 12 - (bytes.count - start)
        if padding > 0 {
            bytes.insert(contentsOf: repeatElement(UInt8(ascii: " "), count: padding), at: start)
        }
        bytes.append(UInt8(ascii: " "))
        Timestamp(status.modified).appendLocal(to: &bytes)
        bytes.append(UInt8(ascii: " "))
        appendEscaped(entry.path.bytes)
        guard status.type == .symlink else { return }
        bytes += " -> ".utf8
        appendEscaped(entry.destination)
    }

    mutating func appendEscaped(_ name: [UInt8]) {
        let backslash = UInt8(ascii: "\\")
        if name.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != backslash }) {
            bytes += name
        } else {
            bytes += escapedText(name).utf8
        }
    }

    private mutating func appendMode(_ status: FileStatus) {
        let letter: Unicode.Scalar =
            switch status.type {
            case .file: "-"
            case .directory: "d"
            case .symlink: "l"
            case .fifo: "p"
            case .characterDevice: "c"
            case .blockDevice: "b"
            case .socket: "s"
            }
        bytes.append(UInt8(ascii: letter))
        for (shift, special, letter) in [(6, 0o4000, "s"), (3, 0o2000, "s"), (0, 0o1000, "t")]
            as [(UInt16, UInt16, Unicode.Scalar)]
        {
            let bits = status.permissions >> shift
            let isExecutable = bits & 1 != 0
            bytes.append(UInt8(ascii: bits & 4 != 0 ? "r" : "-"))
            bytes.append(UInt8(ascii: bits & 2 != 0 ? "w" : "-"))
            if status.permissions & special != 0 {
                bytes.append(isExecutable ? UInt8(ascii: letter) : UInt8(ascii: letter) & ~0x20)
            } else {
                bytes.append(UInt8(ascii: isExecutable ? "x" : "-"))
            }
        }
    }
}

extension ManifestHeader.Source {
    /// Such as `home: /home`; a single source has no name.
    var text: String { MirrorSource.text(name, path) }
}

extension MirrorSource {
    static func text(_ name: String?, _ path: [UInt8]) -> String {
        (name.map { "\(escapedText($0.utf8)): " } ?? "") + "\(LocalFile(bytes: path))"
    }
}
