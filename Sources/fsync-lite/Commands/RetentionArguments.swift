import FsyncLite

extension RetentionPolicy {
    /// The rules that the options of a command line, or settings in their place, name.
    init(_ invocation: Invocation) throws {
        self.init()
        keepLast = try invocation.integer("--keep-last")
        keepHourly = try invocation.integer("--keep-hourly")
        keepDaily = try invocation.integer("--keep-daily")
        keepWeekly = try invocation.integer("--keep-weekly")
        keepMonthly = try invocation.integer("--keep-monthly")
        keepYearly = try invocation.integer("--keep-yearly")
        keepWithin = try invocation.value(
            "--keep-within", "give one such as 30d or 1y6mo; m would be minutes, months are mo"
        ) { RetentionPolicy.within($0) }
        if invocation.has("--keep-label") {
            keepLabel = try invocation.values("--keep-label").map { label in
                guard let text = String(validating: label, as: UTF8.self) else {
                    throw UsageError("\(quoted(label)) is no label", hint: "give --keep-label plain text")
                }
                return text
            }
        }
    }
}

extension RetentionOptions {
    /// What one place says.
    init(_ invocation: Invocation) throws {
        self.init()
        let rules = try RetentionPolicy(invocation)
        forgetsKept = invocation.has("--retention")
        guard !forgetsKept || rules.isEmpty else {
            throw UsageError(
                "--retention default goes with no other rule of retention",
                hint: "leave it, or the rules, away")
        }
        if !rules.isEmpty { given = rules }
    }

    /// What settings say, of a command that asks what an apply would keep.
    init(settingsFor target: [UInt8], _ invocation: Invocation) throws {
        var bare = invocation
        bare.optionValues = [:]
        try self.init(bare, SettingsSources(invocation).layers(target: target))
    }

    /// What a command line says, and settings.
    init(_ invocation: Invocation, _ layers: [SettingsLayer]) throws {
        try self.init(invocation)
        for layer in layers {
            let own = try RetentionOptions(layer.retention)
            switch layer.place {
            case .defaults: defaults = own.given
            case .target: settings = own.given
            case .job:
                if given == nil, !forgetsKept { (given, forgetsKept) = (own.given, own.forgetsKept) }
            }
        }
    }
}
