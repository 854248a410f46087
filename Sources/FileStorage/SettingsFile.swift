import FileSystem
import FoundationEssentials

/// Settings that a user writes, as JSON or as a property list, with keys in snake_case and the line of each key.
///
/// A file is a property list, in XML or binary, if its name ends in `.plist`. Dates may be text. A binary one has no
/// lines.
public struct SettingsFile<Content: Codable & Sendable>: Sendable {
    public let file: LocalFile
    public var content: Content
    private var isBinary = false
    private var lines = SourceMap()

    /// The largest file in bytes. Settings are far smaller.
    package static var sizeLimit: Int { 1 << 20 }

    /// The default file names.
    public static var names: [String] { ["settings.json", "settings.plist"] }
}

extension SettingsFile {
    /// - Parameter defaults: the values of missing keys.
    /// - Throws: `SyncError` with code `invalidDocument` and with file, line and key, for an unknown or duplicate key
    ///   or a wrong type.
    package init(_ bytes: [UInt8], of file: LocalFile, defaults: Content? = nil) throws(SyncError) {
        // Editors of other systems write a byte order mark.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        let isList = SettingsFile.isPropertyList(file)
        let isBinary = isList && bytes.starts(with: "bplist".utf8)
        self = try file.locating {
            let lines =
                !isList
                ? try SourceMap(json: bytes, deepest: SourceMap.deepestSetting)
                : isBinary ? SourceMap() : try SourceMap(propertyList: bytes)
            let map = isList ? try SettingsFile.map(of: bytes, lines) : lines
            let defaults = try defaults.map { try JSONDocument.map(of: $0) } ?? SourceMap()
            let content = try SettingsFile.decode(map, over: defaults, lines)
            let known = try JSONDocument.map(of: content)
            let keys = map.paths.filter { !map.isItem($0) && !known.contains($0) }
            if let unknown = keys.first(where: { SettingsFile.isUnknown($0, map, over: defaults) }) {
                throw SyncError(.invalidDocument, lines.describe(unknown, "The key is unknown."))
            }
            return SettingsFile(file: file, content: content, isBinary: isBinary, lines: lines)
        }
    }

    private static func isPropertyList(_ file: LocalFile) -> Bool {
        file.bytes.suffix(6).elementsEqual(".plist".utf8)
    }

    /// A property list as JSON. A date becomes text, data becomes base64.
    private static func map(of propertyList: [UInt8], _ lines: SourceMap) throws(SyncError) -> SourceMap {
        do {
            let value = try PropertyListDecoder().decode(SettingValue.self, from: Data(propertyList))
            return try JSONDocument.map(of: value, keys: .asDeclared)
        } catch {
            throw SyncError(.invalidDocument, JSONDocument.describe(error, .asDeclared, lines))
        }
    }

    /// - Throws: an error if a property list cannot contain a value, such as null.
    private static func data(of json: Data, isBinary: Bool) throws(SyncError) -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = isBinary ? .binary : .xml
        do {
            return try encoder.encode(JSONDecoder().decode(SettingValue.self, from: json))
        } catch {
            let reason = JSONDocument.describe(error, .asDeclared)
            throw SyncError(.failed, "cannot be written as a property list: \(reason)")
        }
    }

    private static func decode(
        _ map: SourceMap, over defaults: SourceMap, _ lines: SourceMap
    ) throws(SyncError) -> Content {
        // A value of an enumeration is an object with a single key, so it must not be joined with another one.
        var whole: Set<[String]> = []
        while true {
            let joined = map.joined(with: defaults, whole: whole)
            do {
                return try JSONDocument.decoder(.snakeCase).decode(Content.self, from: joined)
            } catch DecodingError.typeMismatch(_, let context)
                where whole.insert(JSONDocument.spelling(context.codingPath, .snakeCase, map)).inserted
            {
                continue
            } catch {
                // Decodes once more, for the same error with its line.
                return try JSONDocument.decode(from: joined, lines: lines)
            }
        }
    }

    /// Whether no program reads a key: the value that was read lacks it, and every other value of it is accepted.
    private static func isUnknown(
        _ path: [String], _ map: SourceMap, over defaults: SourceMap
    ) -> Bool {
        // An optional property without a value is written as null.
        guard map.value(path).first != UInt8(ascii: "n") else { return false }
        return ["true", "\"\"", "[]", "{}"].allSatisfy { other in
            // If it fails, a program reads the key.
            let changed = try? SourceMap(json: map.replacing(path, by: other))
            return (try? changed.map { try decode($0, over: defaults, $0) }) != nil
        }
    }

    /// Reads a file.
    ///
    /// - Throws: an error with `isNotFound` if it does not exist.
    public init(reading file: LocalFile) throws(SyncError) {
        try self.init(Array(file.data(limit: SettingsFile.sizeLimit)), of: file)
    }

    /// Reads the settings in a directory. Missing keys get the values of `defaults`. If there is no file, all keys get
    /// them, and `write` makes `settings.json`.
    public static func read(in directory: LocalFile, defaults: Content) throws(SyncError) -> SettingsFile {
        try readIfPresent(in: directory, defaults: defaults)
            ?? SettingsFile(file: directory + names[0], content: defaults)
    }

    /// Reads the settings in a directory, `settings.json` or `settings.plist`; nil if there are none.
    ///
    /// - Parameter defaults: the values of missing keys.
    public static func readIfPresent(
        in directory: LocalFile, defaults: Content? = nil
    ) throws(SyncError) -> SettingsFile? {
        var found: [SettingsFile] = []
        for file in names.map({ directory + $0 }) {
            guard let data = try ifPresent(file.data(limit: sizeLimit)) else { continue }
            found.append(try SettingsFile(Array(data), of: file, defaults: defaults))
        }
        return try only(found)
    }

    /// If there are two files, it is unclear which one to use.
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
    /// - Throws: `refused` if the name exists. Then nothing is written.
    public static func create(_ content: Content, at file: LocalFile) throws(SyncError) {
        try file.create(with: SettingsFile(file: file, content: content).data())
    }

    /// Writes the content to the file, atomically and durably, in the file's format. Comments and spaces are lost.
    public func write() throws(SyncError) {
        try file.replace(with: data())
    }

    private func data() throws(SyncError) -> Data {
        try file.locating {
            let json = try JSONDocument.encode(content)
            guard SettingsFile.isPropertyList(file) else { return json }
            let data = try SettingsFile.data(of: json, isBinary: isBinary)
            guard try JSONDocument.encode(SettingsFile(Array(data), of: file).content) == json else {
                throw SyncError(.failed, "a property list would not hold all the values")
            }
            return data
        }
    }

    /// An error about a value, with its line.
    package func error(_ path: [String], _ message: String) -> SyncError {
        SyncError(.invalidDocument, path: file.bytes, lines.describe(path, message))
    }

    /// The file and the line of a key.
    package func location(of path: [String]) -> String {
        lines.position(of: path).map { "\(file):\($0.line)" } ?? "\(file)"
    }
}
