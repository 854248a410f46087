import FileStorage
import FsyncLite

extension SavedPlan {
    /// The words that make the same options again. Patterns that came from files are among them, so what becomes
    /// of those files does not matter.
    static func words(for invocation: Invocation, _ filters: Filters) -> [[UInt8]] {
        var words = filters.rules.map { Array("--exclude=".utf8) + $0.text }
        for option in CommandDescription.planning where !option.isRepeatable && invocation.has(option.name) {
            words.append(
                Array(option.name.utf8) + (invocation.value(option.name).map { Array("=".utf8) + $0 } ?? []))
        }
        return words
    }

    /// The command line that does this plan.
    ///
    /// - Parameter given: what was asked for beside the plan.
    /// - Throws: `UsageError` where that would make another plan.
    func invocation(from file: [UInt8], beside given: Invocation) throws -> Invocation {
        let planning = CommandDescription.planning.map(\.name)
        if let option = planning.first(where: given.has) {
            throw UsageError(
                "\(option) does not go with --plan, which says what is done",
                hint: "save a plan with \(option)")
        }
        let words = [Array("apply".utf8)] + options + [Array("--".utf8), source, target]
        guard case .invocation(var invocation)? = try? CommandLineParser(program: .fsyncLite).parse(words),
            invocation.optionValues.keys.allSatisfy(planning.contains)
        else {
            throw SyncError(.invalidDocument, path: file, "the plan names options that no plan has")
        }
        invocation.optionValues.merge(given.optionValues) { $1 }
        return invocation
    }
}
