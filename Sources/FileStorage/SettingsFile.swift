import FileSystem
import FoundationEssentials

/// Settings written by a user, as JSON or as a property list with the same keys, with the line of each key.
///
/// A file is a property list if its name ends in `.plist`; its numbers are integers, and its dates are text.
public struct SettingsFile<Content: Codable & Sendable>: Sendable {
    public let file: LocalFile
    public let content: Content
    private let lines: SourceMap

    /// In bytes; settings are far smaller.
    package static var sizeLimit: Int { 1 << 20 }

    /// The default file names.
    public static var names: [String] { ["settings.json", "settings.plist"] }

    /// - Throws: `SyncError` with code `invalidDocument` and file, line and key for an unknown or duplicate key or a
    ///   wrong type.
    package init(_ bytes: [UInt8], of file: LocalFile) throws(SyncError) {
        self.file = file
        // Editors of other systems write one.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        (lines, content) = try file.locating {
            let isPropertyList = SettingsFile.isPropertyList(file)
            let lines = try isPropertyList ? SourceMap(propertyList: bytes) : SourceMap(json: bytes)
            let json = try isPropertyList ? JSONDocument.json(of: Data(bytes), lines) : Data(bytes)
            return (lines, try JSONDocument.decode(from: json, lines))
        }
    }

    /// Reads a file, or what a shell passes instead: a pipe, `/dev/stdin`.
    ///
    /// - Throws: `inputMissing` if it does not exist.
    public init(reading file: LocalFile) throws(SyncError) {
        try self.init(file.input(limit: SettingsFile.sizeLimit), of: file)
    }

    /// Reads the settings in a directory, `settings.json` or `settings.plist`; nil if there are none.
    public static func readIfPresent(in directory: LocalFile) throws(SyncError) -> SettingsFile? {
        var found: [SettingsFile] = []
        for file in names.map({ directory + $0 }) {
            do {
                found.append(try SettingsFile(file.input(limit: sizeLimit, isNamed: false), of: file))
            } catch {
                guard error.isNotFound else { throw error }
            }
        }
        return try only(found)
    }

    /// Two files would be ambiguous.
    package static func only(_ found: [SettingsFile]) throws(SyncError) -> SettingsFile? {
        guard found.count < 2 else {
            throw SyncError(
                .invalidDocument, path: found[1].file.bytes,
                "\(found[0].file.name) is there too; remove one of them")
        }
        return found.first
    }

    /// Creates a settings file.
    ///
    /// - Throws: `refused` if the name exists; then nothing is written.
    public static func create(_ content: Content, at file: LocalFile) throws(SyncError) {
        try file.create(
            with: try file.locating {
                let json = try JSONDocument.encode(content)
                return try isPropertyList(file) ? JSONDocument.propertyList(of: json) : json
            })
    }

    private static func isPropertyList(_ file: LocalFile) -> Bool {
        file.bytes.suffix(6) == Array(".plist".utf8)[...]
    }

    /// An error about a value, with its line.
    package func error(_ path: [String], _ message: String) -> SyncError {
        SyncError(.invalidDocument, path: file.bytes, lines.describe(path, message))
    }

    /// The file and the line of a key.
    package func location(of path: [String]) -> String {
        lines.line(of: path).map { "\(file):\($0)" } ?? "\(file)"
    }
}
