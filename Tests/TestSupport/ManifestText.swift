import FileSystem
import FsyncLite

/// A manifest as text. It is valid unless a test changes it. The checksum is always right.
package struct ManifestText {
    package var format = "fsync-lite-manifest"
    package var version = "1"
    package var header = #""id":"20261121T090000Z","root":"/mirror","created":"2026-11-21T09:00:00Z","#
    package var entries: [String] = []
    package var summary = #"{"files":0,"directories":0,"symlinks":0,"others":0,"bytes":0}"#

    package init() {}

    /// A manifest of one empty file with all fields.
    package init(path: String) {
        self.init(fields: [("path", path)])
    }

    /// A manifest of one empty file, with some fields replaced by raw JSON, or left out (nil).
    package init(fields: [(key: String, value: String?)]) {
        entries = [ManifestText.entry(fields)]
        summary = summary.replacing("\"files\":0", with: "\"files\":1")
    }

    package static func entry(_ fields: [(key: String, value: String?)]) -> String {
        var all: [(String, String?)] = [
            ("path", "\"a\""), ("type", "\"file\""), ("size", "0"), ("modified", "\"2026-11-20T10:00:00Z\""),
            ("mode", "\"0644\""), ("owner", "0"), ("group", "0"), ("inode", "7"),
            ("changed", "\"2026-11-20T10:00:00Z\""),
        ]
        for (key, value) in fields {
            if let index = all.firstIndex(where: { $0.0 == key }) {
                all[index].1 = value
            } else {
                all.append((key, value))
            }
        }
        return "{" + all.compactMap { key, value in value.map { "\"\(key)\":\($0)" } }.joined(separator: ",")
            + "}"
    }

    package var bytes: [UInt8] {
        let lines = entries.isEmpty ? "" : "\n" + entries.joined(separator: ",\n") + "\n"
        let start =
            "{\"format\":\"\(format)\",\"version\":\(version),\(header)\n\"entries\":[\(lines)],\n"
            + "\"summary\":\(summary),\"checksum\":"
        return ManifestText.sealed(Array(start.utf8))
    }

    /// The manifest that the tool writes of these entries.
    ///
    /// - Parameter isMirror: if false, it has no facts about a target.
    package static func bytes(
        _ header: ManifestHeader, _ entries: [RecordList.Entry], isMirror: Bool = true
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = ManifestWriter(header)
        let list = RecordList(entries)
        while list.advance() {
            writer.append(list, isMirror: isMirror)
            try writer.drain(to: &bytes)
        }
        writer.end()
        try writer.drain(to: &bytes, all: true)
        return bytes
    }

    /// Adds the right checksum and the end.
    package static func sealed(_ start: [UInt8]) -> [UInt8] {
        var checksum = Checksum()
        checksum.update(start[...])
        return start + Array("\"\(checksum.text)\"}\n".utf8)
    }
}

/// A file for one document after the other.
package final class ScratchDocument {
    private let temporary: TemporaryDirectory
    private let directory: Directory
    private let name = FileName("document")

    package init() throws {
        temporary = try TemporaryDirectory()
        directory = try temporary.open()
    }

    package func write(_ bytes: [UInt8]) throws {
        let file = try directory.open(name, [.write, .create], permissions: 0o600)
        try file.truncate(to: 0)
        try file.write(bytes)
    }

    package func manifest(_ bytes: [UInt8]) throws -> ManifestReader {
        try write(bytes)
        return try ManifestReader(try directory.open(name, [.read]), path: directory.path(of: name))
    }

    /// Reads a manifest to its end.
    package func files(_ bytes: [UInt8]) throws -> [RecordList.Entry] { try manifest(bytes).entries() }
}

extension ManifestReader {
    /// Reads to the end.
    package func entries() throws -> [RecordList.Entry] {
        var entries: [RecordList.Entry] = []
        while try advance() {
            var entry = RecordList.Entry(file: file, targetInode: targetInode)
            (entry.targetChanged, entry.marks) = (targetChanged, marks)
            entries.append(entry)
        }
        return entries
    }
}
