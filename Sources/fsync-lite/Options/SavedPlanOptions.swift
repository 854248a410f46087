import FileStorage
import FsyncLite

extension SavedPlan {
    /// The words of a command line that give the same options again. They have the patterns of all files and the
    /// options of settings, so later changes of those files have no effect.
    static func words(for given: GivenOptions, _ filters: Filters) -> [[UInt8]] {
        var options = GivenOptions()
        for rule in filters.rules { options.append(SyncOptions.exclude, rule.text) }
        let patterns = SyncOptions.patterns.map(\.name)
        for option in OptionDescription.ofPlan where !patterns.contains(option.name) {
            for (name, value) in given.list where name == option.name { options.append(option, value) }
        }
        return options.words
    }

    /// Checks the place of a plan that is saved.
    ///
    /// - Parameter trees: the directories of this machine that the plan is about.
    /// - Throws: `UsageError` if the file changes one of them, because then the plan would not fit.
    static func check(_ file: [UInt8], outside trees: [[UInt8]], _ filters: Filters) throws {
        for tree in trees where try filters.includesDirectory(of: LocalFile(bytes: file), in: tree) {
            throw UsageError(
                "the file of the plan is in \(LocalFile(bytes: tree)), so the plan would not fit",
                hint: "save it outside of source and target")
        }
    }

    /// The options of a saved plan, joined with those given beside it.
    ///
    /// - Throws: `UsageError` if an option beside it would change the plan.
    func options(from file: [UInt8], beside given: Invocation) throws -> GivenOptions {
        let planning = OptionDescription.planning
        if let option = planning.first(where: given.options.has) {
            throw UsageError(
                "\(option.name) and --plan exclude each other, because the plan has all actions",
                hint: "save a plan with \(option.name)")
        }
        let words = options + [Array("--".utf8), source, target]
        var scanner = OptionScanner(
            command: given.command.description, program: given.program, pending: words[...])
        guard (try? scanner.scan()) != nil, scanner.positionals == [source, target],
            scanner.options.list.allSatisfy({ given in
                OptionDescription.ofPlan.contains { $0.name == given.name && !$0.isOfThisMachine }
            })
        else {
            throw SyncError(.invalidDocument, path: file, "the plan has options that cannot be in a plan")
        }
        var planned = scanner.options
        let retention = OptionDescription.retention
        for option in retention.contains(where: given.options.has) ? retention : [] { planned.remove(option) }
        return planned + given.options
    }
}
