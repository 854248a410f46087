import FsyncLite

extension GivenOptions {
    /// The same with what settings say where the command line says nothing. Lists are joined, so that of
    /// patterns the stronger ones decide.
    ///
    /// - Parameters:
    ///   - layers: the weakest first.
    ///   - options: those that settings may give here.
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

    /// Takes over what a layer says of an option.
    fileprivate mutating func append(_ option: OptionDescription, values layer: SettingsLayer?) {
        guard let values = layer?.values[option.name]?.values else { return }
        if values.isEmpty { append(option) }
        for value in values { append(option, value) }
    }
}

extension SettingsLayer {
    /// Its rules of retention, as a command line would have them.
    var retention: GivenOptions {
        var rules = GivenOptions()
        for option in OptionDescription.retention { rules.append(option, values: self) }
        return rules
    }
}

extension RetentionOptions {
    /// What settings say, of a command that asks what an apply would keep.
    init(settingsFor target: [UInt8], _ given: GivenOptions) throws {
        try self.init(GivenOptions(), SettingsSources(given).layers(target: target))
    }

    /// What a command line says, and settings.
    init(_ given: GivenOptions, _ layers: [SettingsLayer]) throws {
        try self.init(given)
        for layer in layers {
            let own = try RetentionOptions(layer.retention)
            switch layer.origin {
            case .defaults: defaults = own.given
            case .target: settings = own.given
            case .job:
                guard self.given == nil, !forgetsKept else { break }
                (self.given, forgetsKept) = (own.given, own.forgetsKept)
            }
        }
    }
}
