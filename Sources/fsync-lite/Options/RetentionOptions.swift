import FsyncLite

/// The retention options. They are those of restic.
extension RetentionPolicy {
    private static let label = OptionDescription.value(
        "--keep-label", "L", "keep the snapshots with this label (default: with any label)", repeatable: true
    ).rare

    private static let fields: [OptionField<RetentionPolicy>] =
        counts.map { rule in
            let field = OptionField<RetentionPolicy>.count(name(rule.key), rule.help) {
                $0[keyPath: rule.path] = $1
            }
            return ["--keep-last", "--keep-daily"].contains(field.option.name) ? field : field.rare
        }
        + ages.map { rule in
            OptionField<RetentionPolicy>.value(
                name(rule.key), "AGE", rule.help,
                "give an age in h, d, w, mo or y, such as 30d or 1y6mo. Months are mo, as m is minutes",
                { RetentionPolicy.within($0) }
            ) { $0[keyPath: rule.path] = $1 }.rare
        } + [keepLabel]

    private static func name(_ key: StaticString) -> String { "--" + "\(key)".replacing("_", with: "-") }

    private static let keepLabel = OptionField<RetentionPolicy>(option: label) { given, policy in
        guard given.has(label) else { return }
        policy.keepLabel = try given.values(label).map { value in
            guard let text = String(validating: value, as: UTF8.self), !text.isEmpty else {
                throw UsageError("\(quoted(value)) is not a label", hint: "give \(label.name) plain text")
            }
            return text
        }
    }

    static let options = fields.map(\.option)

    init(_ given: GivenOptions) throws {
        self.init()
        for field in RetentionPolicy.fields { try field.read(given, &self) }
    }
}

extension RetentionOptions {
    fileprivate static let retention = OptionDescription.value(
        "--retention", "WORD", "remove the rules that TARGET has stored", choices: ["default"]
    ).rare

    /// The rules of a command line, or of one settings file.
    init(_ given: GivenOptions) throws {
        self.init()
        let rules = try RetentionPolicy(given)
        forgetsStored = given.has(RetentionOptions.retention)
        guard !forgetsStored || rules.isEmpty else {
            throw UsageError(
                "--retention default excludes other rules of retention",
                hint: "leave out one of the two")
        }
        if !rules.isEmpty { self.given = rules }
    }
}

extension OptionDescription {
    static let retention: [OptionDescription] = .section(
        "Retention: stored with TARGET, until you give other rules (built in: 7d, and the last 3)",
        RetentionPolicy.options + [RetentionOptions.retention])
}
