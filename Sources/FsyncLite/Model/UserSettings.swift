import FileStorage

/// The settings of a user.
///
///     {"defaults": {"keep_going": true}, "jobs": {"photos": {"source": "/srv/photos", "target": "/mnt/photos"}}}
public struct UserSettings: Codable, Hashable, Sendable {
    /// Options for every run.
    public var defaults: SettingValues
    /// The jobs by name. Each has a source, a target, hooks and options.
    public var jobs: [String: SettingValues]

    public init(defaults: SettingValues = [:], jobs: [String: SettingValues] = [:]) {
        self.defaults = defaults
        self.jobs = jobs
    }

    private enum CodingKeys: CodingKey {
        case defaults, jobs
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        // A null differs from a missing key.
        defaults = try values.contains(.defaults) ? values.decode(SettingValues.self, forKey: .defaults) : [:]
        jobs = try values.contains(.jobs) ? values.decode([String: SettingValues].self, forKey: .jobs) : [:]
    }
}
