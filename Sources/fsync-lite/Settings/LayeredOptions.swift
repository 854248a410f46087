import FsyncLite

extension GivenOptions {
    /// These options, completed by settings. Lists are joined, and the stronger patterns decide.
    ///
    /// - Parameters:
    ///   - layers: the weakest first.
    ///   - options: those that settings may have here.
    func over(_ layers: [SettingsLayer], _ options: [OptionDescription]) -> GivenOptions {
        var inherited = GivenOptions()
        for option in options where !option.isRepeatable && !has(option) {
            inherited.append(option, values: layers.last { $0.values[option.name] != nil })
        }
        for layer in layers {
            for option in options where option.isRepeatable { inherited.append(option, values: layer) }
        }
        return inherited + self
    }

    /// These options with the retention rules of the job, unless they have rules themselves.
    func withRetention(ofJobIn layers: [SettingsLayer]) -> GivenOptions {
        guard !OptionDescription.retention.contains(where: has),
            let job = layers.last(where: { $0.origin == .job })
        else { return self }
        return self + job.retention
    }

    /// Adds a layer's values of an option.
    mutating func append(_ option: OptionDescription, values layer: SettingsLayer?) {
        guard let values = layer?.values[option.name]?.values else { return }
        if values.isEmpty { append(option) }
        for value in values { append(option, value) }
    }
}

extension SettingsLayer {
    var retention: GivenOptions {
        var rules = GivenOptions()
        for option in OptionDescription.retention { rules.append(option, values: self) }
        return rules
    }
}

extension RetentionOptions {
    /// The settings for a command that asks which snapshots `apply` would keep.
    init(settingsFor invocation: Invocation) throws {
        let target = try invocation.argument(.target)
        let settings = try SettingsSources(invocation)
        let job = try invocation.jobName.flatMap { name in try settings.jobs().first { $0.name == name } }
        try self.init(GivenOptions(), settings.layers(target: target) + [job?.options].compactMap(\.self))
        keepsAll = invocation.keepsHistory
    }

    /// The rules of a command line and of settings.
    init(_ given: GivenOptions, _ layers: [SettingsLayer]) throws {
        try self.init(given.withRetention(ofJobIn: layers))
        for layer in layers {
            switch layer.origin {
            case .defaults: defaults = try RetentionOptions(layer.retention).given
            case .target: settings = try RetentionOptions(layer.retention).given
            case .job: break
            }
        }
    }
}
