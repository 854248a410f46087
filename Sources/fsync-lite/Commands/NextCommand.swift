import FileStorage
import FileSystem
import FsyncLite

/// The command that continues after a refusal: the typed command line, with other options and for one job
/// only. For a preview, it is a preview.
struct NextCommand {
    let typed: Invocation
    private let job: Job?
    private let saved: SavedPlan?
    /// The path of the target on its own machine.
    private let target: [UInt8]?
    /// The target as a command line names it.
    private let shownTarget: [UInt8]?

    init(_ invocation: Invocation, _ job: Job? = nil, _ saved: SavedPlan? = nil, target: [UInt8]? = nil)
        throws
    {
        (typed, self.job, self.saved) = (try invocation.asTyped(), job, saved)
        self.target = target ?? invocation.values(.target).first ?? job?.target
        shownTarget = invocation.targetOfClient ?? self.target
        let written = invocation.copyOfClient ?? shownTarget
        far = invocation.client == nil ? nil : try written.flatMap { try Endpoint($0) }
    }

    /// The machine that is written to; nil for this one.
    private let far: Endpoint?

    /// The most commands before the last one.
    private static let mostCommands = 20

    /// The advice after these refusals: the safe ways, then the command that continues; empty without it.
    ///
    /// - Parameter instead: printed in place of the command.
    func advice(after refusals: [Refusal], instead: String? = nil) -> [String] {
        guard let text = text(after: refusals) else { return [] }
        let ways = Set(refusals.compactMap(\.safeWay)).sorted().map(named)
        return ways + ["next: \(instead ?? text)"]
    }

    /// The text with the typed paths. Several sources have no path.
    private func named(_ text: String) -> String {
        let source = saved?.source ?? typed.values(SyncRun.source).first ?? job?.source.single
        let paths = [(SyncRun.source, source), (.target, shownTarget)]
        return paths.reduce(text) { text, place in
            place.1.map { text.replacing(" \(place.0.name)", with: " \(Shell.path($0))") } ?? text
        }
    }

    /// The command that continues after these refusals; nil if there is none.
    func text(after refusals: [Refusal]) -> String? {
        guard !refusals.isEmpty else { return nil }
        let way = refusals.reduce(.none) { $0 + $1.wayOut }
        if saved != nil, way.adding.map(\.name) != [OptionDescription.newTarget.name] { return again }
        // A refusal without a way out blocks all others.
        guard !refusals.contains(where: \.wayOut.isNone), !needsOtherSettings(way) else { return nil }
        let before = way.first.prefix(NextCommand.mostCommands).map(text)
        return (before + (way.isWhole ? [] : [text(way)])).joined(separator: " && ")
    }

    /// Whether the command line cannot change what is refused: it is in the settings.
    private func needsOtherSettings(_ way: WayOut) -> Bool {
        guard way.arguments.isEmpty || job == nil else { return true }
        // One that is added takes the place of one that was not typed.
        guard way.adding.isEmpty else { return false }
        return way.removing.contains { name in
            !typed.options.list.contains { $0.name == name } && opposite(of: name) == nil
        }
    }

    /// The option that turns off an option that is on by default; nil if there is none.
    private func opposite(of name: String) -> String? {
        let opposite = "--no-\(name.dropFirst(2))"
        return typed.command.description.options.contains { $0.name == opposite } ? opposite : nil
    }

    /// A path on the machine that is written to, as it is typed here.
    private func fromHere(_ path: [UInt8]) -> [UInt8] { far?.bytes(of: path) ?? path }

    private func text(_ words: [WayOut.Word]) -> String {
        let isOurs = words.first == "fsync-lite"
        let text = words.map { word in
            switch word {
            case .text(let bytes): Shell.word(bytes)
            case .target: Shell.path(target ?? [])
            case .targetName(let path): Shell.path(shownTarget ?? path)
            case .inTarget(let path): Shell.path((LocalFile(bytes: target ?? []) + path).bytes)
            case .besideTarget(let end): Shell.path((target ?? []) + end)
            case .stateBesideTarget: Shell.path(NextCommand.state(beside: target ?? []))
            case .mountPoint: "\"$(findmnt -no TARGET -T \(Shell.path(target ?? [])))\""
            }
        }.joined(separator: " ")
        guard let far, !isOurs else { return text }
        return "ssh \(Shell.word(Array(far.destination.utf8))) \(Shell.quoted(text))"
    }

    /// The words that run a command as another user.
    private static func prefix(_ user: UInt32) -> String {
        Account.isRoot
            ? "setpriv --reuid=\(user) --clear-groups " : user == 0 ? "sudo " : "sudo -u '#\(user)' "
    }

    private static func state(beside target: [UInt8]) -> [UInt8] {
        let file = LocalFile(bytes: target)
        return (file.parent + ".\(file.name).fsync-lite").bytes
    }

    /// The command with these changes.
    func text(_ way: WayOut) -> String {
        let description = typed.command.description
        let words =
            if let saved {
                [saved.source, shownTarget ?? saved.target]
            } else if let job, typed.command == RunCommand.self {
                [Array(job.name.utf8)]
            } else {
                description.arguments.flatMap { argument in
                    let isThere = argument.name == SyncRun.target.name
                    let value = way.arguments[argument.name]
                    return value.map { [isThere ? fromHere($0) : $0] } ?? typed.values(argument)
                }
            }
        let opposites = way.removing.compactMap(opposite)
        // Several refusals may give one option several values.
        let adding = way.adding.enumerated().filter { index, option in
            guard let known = description.options.first(where: { $0.name == option.name }) else {
                return false
            }
            return known.isRepeatable || !way.adding[..<index].contains { $0.name == option.name }
        }.map(\.element)
        let added =
            adding.map { option in
                // A directory for a copy is on the other machine.
                let isThere = option.name == SnapshotRestoreCommand.to.name
                return (option.name, isThere ? option.value.map(fromHere) : option.value)
            } + opposites.map { ($0, nil) }
        // Leave out options that get a new value, and a saved plan, which allows no other options.
        let replaced = added.map(\.0) + way.removing + (saved == nil ? [] : [SyncRun.savedPlan.name])
        let remaining = typed.options.list.filter { option in
            description.options.contains {
                $0.name == option.name
                    && (!replaced.contains($0.name) || $0.isRepeatable && !way.removing.contains($0.name))
            }
        }
        func text(_ options: [(name: String, value: [UInt8]?)]) -> [String] {
            GivenOptions(list: options).words(of: description.options).map(Shell.word)
        }
        let settings = OptionDescription.settingsFile.name
        let options =
            savedOptions + text(remaining.filter { $0.name != settings }) + text(added)
            + text(remaining.filter { $0.name == settings })
        return (way.user.map(NextCommand.prefix) ?? "") + NextCommand.line(description.words, options, words)
    }

    /// The command that makes the saved plan again.
    private var again: String {
        let file = typed.options.value(SyncRun.savedPlan)
        let options =
            savedOptions + (file.map { [PlanCommand.out.name, Shell.word($0)] } ?? []) + surroundings
        return NextCommand.line(
            PlanCommand.description.words, options,
            saved.map { [$0.source, shownTarget ?? $0.target] } ?? [])
    }

    /// The command that carries out a plan in this file.
    func carryingOut(_ file: [UInt8]) -> String {
        NextCommand.line(
            ApplyCommand.description.words, [SyncRun.savedPlan.name, Shell.word(file)] + surroundings, [])
    }

    private var savedOptions: [String] { saved?.options.map(Shell.word) ?? [] }

    /// The options that no plan has: the settings of this machine, and the way to another one.
    private var surroundings: [String] {
        typed.options.words(of: [.settingsFile] + OptionDescription.mirroringRemote).map(Shell.word)
    }

    private static func line(_ command: [String], _ options: [String], _ arguments: [[UInt8]]) -> String {
        let isOdd = arguments.contains { $0.first == UInt8(ascii: "-") }
        let words = arguments.map(Shell.word)
        return (["fsync-lite"] + command + (isOdd ? options + ["--"] + words : words + options))
            .joined(separator: " ")
    }
}
