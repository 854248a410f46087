import FileStorage
import FileSystem

/// A target's `.fsync-lite/settings.json` or `settings.plist`. The defaults of missing keys are in other files.
public struct Settings: Codable, Hashable, Sendable {
    /// `keep_last` and so on, on the same level as the other keys.
    public var rules = RetentionPolicy()
    /// `defaults`: options for each run on this target, by their keys.
    public var defaults: SettingValues?

    public init(keepLast: Int? = nil) {
        rules.keepLast = keepLast
    }

    private enum CodingKeys: CodingKey {
        case defaults
    }

    /// - Throws: an error for a value that does not fit its key.
    public init(from decoder: any Decoder) throws {
        rules = try RetentionPolicy(from: decoder)
        defaults = try decoder.container(keyedBy: CodingKeys.self)
            .decodeIfPresent(SettingValues.self, forKey: .defaults)
    }

    public func encode(to encoder: any Encoder) throws {
        try rules.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(defaults, forKey: .defaults)
    }
}

extension StateDirectory {
    /// The settings of this target; the defaults if there is no file.
    package func settings() throws -> Settings { try settingsFile()?.content ?? Settings() }

    private static let settingsEntries = [StateEntry.settings, .settingsPropertyList]

    package func settingsFile() throws -> SettingsFile<Settings>? {
        var found: [SettingsFile<Settings>] = []
        for entry in StateDirectory.settingsEntries {
            guard let descriptor = try open(entry) else { continue }
            let path = path(of: entry)
            let data: [UInt8]
            do {
                data = try descriptor.readAll(limit: SettingsFile<Settings>.sizeLimit)
            } catch {
                throw SyncError(.invalidDocument, path: path, error)
            }
            found.append(try SettingsFile(data, of: LocalFile(bytes: path)))
        }
        return try SettingsFile.only(found)
    }

    /// The path of a settings file that was changed after a time; nil if there is none.
    func settingsChanged(since time: FileTime) throws -> [UInt8]? {
        try StateDirectory.settingsEntries.first { try status(of: $0)?.changed ?? time > time }
            .map(path)
    }
}
