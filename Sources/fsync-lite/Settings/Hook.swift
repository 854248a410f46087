import FileStorage
import FileSystem
import FsyncLite

/// A command that a job runs.
struct Hook: CustomStringConvertible {
    enum Moment: String, CaseIterable {
        /// Runs before anything is read. If it fails, nothing is applied.
        case before
        /// Runs after a run with exit code 0 or 3.
        case after
        /// Runs if the exit code is not 0.
        case onFailure = "on_failure"
    }

    let moment: Moment
    private let words: [String]

    var description: String { words.map { Shell.word(Array($0.utf8)) }.joined(separator: " ") }

    /// Advice for a line with arguments or shell syntax.
    private static let shell =
        #"a command with arguments is a list of its words, and a line for a shell is ["sh", "-c", "LINE"]"#

    /// - Throws: `UsageError` if the value is not a command.
    init(_ moment: Moment, _ value: SettingValue) throws(UsageError) {
        let error = UsageError("A command is needed", hint: Hook.shell)
        switch value {
        case .string(let command):
            // A path may contain spaces.
            guard command.hasPrefix("/") || !command.contains(where: { " \t\n;|&<>$`".contains($0) }) else {
                throw UsageError(
                    "\"\(escapedText(command.utf8))\" is a line, not a command", hint: Hook.shell)
            }
            words = [command]
        case .array(let list):
            words = list.compactMap { if case .string(let word) = $0 { word } else { nil } }
            guard words.count == list.count else { throw error }
        default: throw error
        }
        guard let command = words.first, !command.isEmpty, !words.contains(where: { $0.utf8.contains(0) })
        else { throw error }
        self.moment = moment
    }

    /// Root runs only root's programs. A first argument that is a path may be a program for an interpreter.
    private func check() throws {
        if words[0].contains("/") {
            try LocalFile(words[0]).checkIsRoots()
        } else {
            // The first program that exists is run.
            for directory in ChildProcess.searchPath.split(separator: ":", omittingEmptySubsequences: false) {
                let program = LocalFile(directory.isEmpty ? words[0] : "\(directory)/\(words[0])")
                try program.checkIsRoots("take that directory out of PATH, or: ")
                if try program.exists { break }
            }
        }
        if words.count > 1, words[1].hasPrefix("/") { try LocalFile(words[1]).checkIsRoots() }
    }

    /// The environment variable with the job's name.
    static let variable = "FSYNC_LITE_JOB"

    /// Runs the command.
    ///
    /// - Parameter report: of the run; nil if it has not begun.
    /// - Returns: the error; nil on success.
    func run(of job: Job, _ report: HookReport?) -> String? {
        let name = "\(moment.rawValue): \(escapedText(words[0].utf8))"
        do {
            try check()
            let input = report.map { job.reportsJSON ? $0.document : $0.text } ?? []
            let variables = [Hook.variable: job.name].merging(report?.variables ?? [:]) { $1 }
            let code = try ChildProcess(words).run(input: input, variables: variables)
            return code == 0 ? nil : "\(name): exit code \(code)"
        } catch let errno as Errno where errno == .noSuchFile && !words[0].contains("/") {
            return
                "\(name): there is no such command in the PATH, \(escapedText(ChildProcess.searchPath.utf8))"
        } catch let errno as Errno where errno == .noSuchFile && words.count == 1 && words[0].contains(" ") {
            return "\(name): \(Errno.noSuchFile); \(Hook.shell)"
        } catch {
            return "\(name): \(error)"
        }
    }
}
