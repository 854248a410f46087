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
        try self.init(given)
        for layer in layers {
            let own = try RetentionOptions(layer.retention)
            switch layer.origin {
            case .defaults: defaults = own.given
            case .target: settings = own.given
            case .job:
                guard self.given == nil, !forgetsStored else { break }
                (self.given, forgetsStored) = (own.given, own.forgetsStored)
            }
        }
    }
}
