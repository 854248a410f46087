import FileStorage
import FileSystem
import FsyncLite

/// The options of filters.
extension SyncOptions {
    static let exclude = OptionDescription.value(
        "--exclude", "PATTERN", "leave out paths that match, as in a .gitignore",
        repeatable: true)
    fileprivate static let include = OptionDescription.value(
        "--include", "PATTERN", "include paths that match; the last match of all patterns decides",
        repeatable: true
    ).rare
    fileprivate static let excludeFrom = OptionDescription.value(
        "--exclude-from", "FILE",
        "patterns from a file; - for standard input",
        repeatable: true)
    private static let ignoreFile = OptionDescription.value(
        "--ignore-file", "NAME", "patterns from the file of this name in each directory of the source"
    ).rare
    static let patterns = [exclude, include, excludeFrom]

    static let filterFields: [OptionField<SyncOptions>] = [
        OptionField(option: ignoreFile) { given, options in
            if let name = given.value(ignoreFile), !options.filters.setIgnoreFile(named: name) {
                throw UsageError(
                    "\(quoted(name)) is not a name for \(ignoreFile.name)",
                    hint: "give the name of a file, without a directory")
            }
        },
        .flag("--exclude-caches", "leave out the content of directories with a CACHEDIR.TAG") {
            $0.filters.excludesCaches = true
        }.rare,
        .flag("--one-file-system", "leave out other file systems and bind mounts") {
            $0.filters.excludesOtherFileSystems = true
        },
        .size("--max-size", "leave out larger files; SIZE is such as 10M") { $0.filters.sizes.maximum = $1 }
            .rare,
        .size("--min-size", "leave out smaller files") { $0.filters.sizes.minimum = $1 }.rare,
        .flag("--delete-excluded", "delete excluded files from the target") { $0.deletesExcluded = true }
            .rare,
    ]

    /// Reads the patterns of all options in the order given. The last match decides.
    mutating func readPatterns(_ given: GivenOptions) throws {
        try filters.readPatterns(given)
        for rule in filters.rules where !rule.canMatch {
            let hint = rule.path.starts(with: "./".utf8) ? "; write it without ./" : ""
            Console.complain("note: the pattern \(rule) can match nothing\(hint)")
        }
    }

    /// The filters of all options.
    static func filters(_ given: GivenOptions) throws -> Filters {
        var options = SyncOptions()
        try options.filters.readPatterns(given)
        for field in filterFields { try field.read(given, &options) }
        return options.filters
    }
}

extension Filters {
    fileprivate mutating func readPatterns(_ given: GivenOptions) throws {
        for case (let name, let value?) in given.list {
            switch name {
            case SyncOptions.exclude.name: exclude(value)
            case SyncOptions.include.name: include(value)
            case SyncOptions.excludeFrom.name:
                let isInput = value == Array("-".utf8)
                let file = LocalFile(bytes: isInput ? Array("/dev/stdin".utf8) : value)
                exclude(from: try file.input(limit: FilterRules.sizeLimit), path: value)
            default: break
            }
        }
    }

    /// Warns about patterns that begin with the path of the source, because patterns are relative to it.
    func complain(ofPatternsFrom source: [UInt8]) throws {
        let slash = UInt8(ascii: "/")
        let names = try LocalFile(bytes: source).absolute().split(separator: slash).filter {
            !$0.elementsEqual(".".utf8)
        }
        guard !names.isEmpty else { return }
        let root = names.flatMap { [slash] + $0 } + [slash]
        for rule in rules where rule.path.starts(with: root) {
            let rest = escapedText(rule.path.dropFirst(root.count - 1))
            Console.complain(
                "note: the pattern \(rule) begins with the path of the source; write \(rest)"
            )
        }
    }
}

extension OptionDescription {
    static let filters: [OptionDescription] = .section(
        "Filters", SyncOptions.patterns + SyncOptions.filterFields.map(\.option))
}
