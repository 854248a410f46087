import FileSystem
import FoundationEssentials

/// Settings as a person wrote them down, as JSON or as a property list with the same keys, and the line of each
/// key.
///
/// A file is a property list when its name ends in `.plist`; its numbers are whole, and its dates are texts.
public struct SettingsFile<Content: Codable & Sendable>: Sendable {
    public let file: LocalFile
    public let content: Content
    private let lines: SourceMap

    /// In bytes: far more than settings need.
    package static var sizeLimit: Int { 1 << 20 }

    /// The names that such a file has where no other is given.
    public static var names: [String] { ["settings.json", "settings.plist"] }

    /// - Throws: `SyncError` with code `invalidDocument`, file, line and key for what is unknown, there twice, or
    ///   of the wrong type.
    package init(_ bytes: [UInt8], of file: LocalFile) throws(SyncError) {
        self.file = file
        (lines, content) = try file.locating {
            let isPropertyList = SettingsFile.isPropertyList(file)
            let lines = try isPropertyList ? SourceMap(propertyList: bytes) : SourceMap(json: bytes)
            let json = try isPropertyList ? JSONDocument.json(of: Data(bytes), lines) : Data(bytes)
            return (lines, try JSONDocument.decode(from: json, lines))
        }
    }

    /// Reads a file, or what a shell has instead of one: a pipe, `/dev/stdin`.
    ///
    /// - Throws: `inputMissing` where nothing is.
    public init(reading file: LocalFile) throws(SyncError) {
        try self.init(file.input(limit: SettingsFile.sizeLimit), of: file)
    }

    /// Reads the settings in a directory, `settings.json` or `settings.plist`; nil when there are none.
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

    /// Two files leave open which of them counts.
    package static func only(_ found: [SettingsFile]) throws(SyncError) -> SettingsFile? {
        guard found.count < 2 else {
            throw SyncError(
                .invalidDocument, path: found[1].file.bytes,
                "\(found[0].file.name) is there too; remove one of them")
        }
        return found.first
    }

    /// Makes a file of settings where none is.
    ///
    /// - Throws: `refused` when the name is taken, and nothing is written.
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

    /// What is wrong with a value, with the line where it stands.
    package func error(_ path: [String], _ message: String) -> SyncError {
        SyncError(.invalidDocument, path: file.bytes, lines.describe(path, message))
    }

    /// Where a key stands: the file and the line.
    package func place(of path: [String]) -> String {
        lines.line(of: path).map { "\(file):\($0)" } ?? "\(file)"
    }
}
