import FileSystem
import FoundationEssentials

/// Settings written by a user, as JSON or as a property list with the same keys in snake_case, with the line of each key.
///
/// A file is a property list if its name ends in `.plist`, in XML or binary; its dates may be text, and a binary one has no
/// lines.
public struct SettingsFile<Content: Codable & Sendable>: Sendable {
    public let file: LocalFile
    public var content: Content
    private let isBinary: Bool
    private let lines: SourceMap

    /// In bytes; settings are far smaller.
    package static var sizeLimit: Int { 1 << 20 }

    /// The default file names.
    public static var names: [String] { ["settings.json", "settings.plist"] }

    private static func isPropertyList(_ file: LocalFile) -> Bool {
        file.bytes.suffix(6).elementsEqual(".plist".utf8)
    }

    /// - Parameter defaults: the values of missing keys.
    /// - Throws: `SyncError` with code `invalidDocument` and file, line and key for an unknown or duplicate key or a
    ///   wrong type.
    package init(_ bytes: [UInt8], of file: LocalFile, defaults: Content? = nil) throws(SyncError) {
        self.file = file
        // Editors of other systems write one.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        let (isList, isBinary) = (SettingsFile.isPropertyList(file), bytes.starts(with: "bplist".utf8))
        self.isBinary = isList && isBinary
        (lines, content) = try file.locating {
            let lines =
                !isList
                ? try SourceMap(json: bytes, deepest: SourceMap.deepestSetting)
                : isBinary ? SourceMap() : try SourceMap(propertyList: bytes)
            let tree = isList ? try PropertyList.tree(of: bytes, lines) : lines.tree
            let defaults = try defaults.map { try JSONDocument.tree(of: $0) }
            let content = try SettingsFile.decode(tree, over: defaults, lines)
            let known = try JSONDocument.tree(of: content)
            let unknown = tree.inner().first { inner in
                // Null is what an optional property writes for none.
                if inner.isItem || known[inner.path] != nil || inner.value.isNull { return false }
                return inner.value.othersInPlace.allSatisfy {
                    let other = tree.replacing(inner.path[...], by: $0)
                    // That it fails is the answer.
                    return (try? SettingsFile.decode(other, over: defaults, lines)) != nil
                }
            }
            if let unknown {
                throw SyncError(.invalidDocument, lines.describe(unknown.path, "The key is unknown."))
            }
            return (lines, content)
        }
    }

    private static func decode(
        _ tree: JSONTree, over defaults: JSONTree?, _ lines: SourceMap
    ) throws(SyncError) -> Content {
        // A value of an enumeration is an object with a single key, and must not be joined with another.
        var whole: Set<[String]> = []
        while true {
            let joined = tree.over(defaults, whole: whole)
            do {
                return try JSONDocument.decoder(.snakeCase).decode(Content.self, from: Data(joined.text))
            } catch {
                if defaults != nil, case DecodingError.typeMismatch(_, let context) = error,
                    whole.insert(JSONDocument.spelling(context.codingPath, .snakeCase, lines)).inserted
                {
                    continue
                }
                let placed = JSONDocument.placed(error, Content.self, joined, .snakeCase)
                throw SyncError(.invalidDocument, JSONDocument.describe(placed, .snakeCase, lines))
            }
        }
    }

    private init(_ content: Content, of file: LocalFile) {
        (self.file, self.content, isBinary, lines) = (file, content, false, SourceMap())
    }

    /// Reads a file, or what a shell passes instead: a pipe, `/dev/stdin`.
    ///
    /// - Throws: `inputMissing` if it does not exist.
    public init(reading file: LocalFile) throws(SyncError) {
        try self.init(file.input(limit: SettingsFile.sizeLimit), of: file)
    }

    /// Reads the settings in a directory, `settings.json` or `settings.plist`; nil if there are none.
    public static func readIfPresent(in directory: LocalFile) throws(SyncError) -> SettingsFile? {
        try readIfPresent(in: directory, defaults: nil)
    }

    /// Reads the settings in a directory. Missing keys have the values of `defaults`; without a file all have, and `write`
    /// makes `settings.json`.
    public static func read(in directory: LocalFile, defaults: Content) throws(SyncError) -> SettingsFile {
        try readIfPresent(in: directory, defaults: defaults)
            ?? SettingsFile(defaults, of: directory + names[0])
    }

    private static func readIfPresent(
        in directory: LocalFile, defaults: Content?
    ) throws(SyncError) -> SettingsFile? {
        var found: [SettingsFile] = []
        for file in names.map({ directory + $0 }) {
            do {
                let bytes = try file.input(limit: sizeLimit, isNamed: false)
                found.append(try SettingsFile(bytes, of: file, defaults: defaults))
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
        try file.create(with: SettingsFile(content, of: file).data())
    }

    /// Writes the content to the file, atomically and durably, in the format that it has. Comments and spaces are lost.
    public func write() throws(SyncError) {
        try file.replace(with: data())
    }

    private func data() throws(SyncError) -> Data {
        try file.locating {
            let json = try JSONDocument.encode(content)
            guard SettingsFile.isPropertyList(file) else { return json }
            do throws(SyncError) {
                let data = try PropertyList.data(of: json, isBinary: isBinary)
                let read = try SettingsFile(Array(data), of: file)
                if try JSONDocument.encode(read.content) == json { return data }
            } catch {
                throw SyncError(.failed, "cannot be written as a property list: \(error.message)")
            }
            throw SyncError(
                .failed, "cannot be written as a property list, which would not hold all its values")
        }
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
