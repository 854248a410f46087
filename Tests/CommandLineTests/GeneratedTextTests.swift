import Foundation
import TestNeeds
import TestSupport
import Testing

@testable import fsync_lite

@Suite("Manual page and completions")
struct GeneratedTextTests {
    private let program = ProgramDescription.fsyncLite

    private func written(_ text: String, _ body: (String) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/text"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try body(path)
    }

    @Test func everyCommandHasAnExampleThatParses() throws {
        for command in program.descriptions {
            #expect(!command.examples.isEmpty, "\(command.name)")
            for example in command.examples {
                // The part before a pipe or a redirection, without the program's name and quotes.
                let line = example.line.prefix { !"|>)".contains($0) }
                let start = try #require(line.range(of: "fsync-lite "), "\(example.line)")
                let words = line[start.upperBound...].split(separator: " ").map {
                    Array($0.replacing("'", with: "").utf8)
                }
                let invocation = try CommandLineParser(program: program).parse(words)
                #expect(invocation.command.name == command.name)
            }
        }
    }

    @Test func firstPageIsShortAndTellsOfEveryUsualCommandAndCode() throws {
        let page = ManualPage(program: program).text
        for section in program.sections where !section.isRare {
            for command in section.commands { #expect(page.contains("\\fB\(command.name)\\fR\n")) }
        }
        for file in program.files {
            #expect(page.contains(file.path.replacing("-", with: "\\-").dropFirst()))
        }
        for heading in ["OPTIONS", "FILES", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES", "SEE ALSO"] {
            #expect(page.contains(".SH \(heading)\n"))
        }
        for code in program.exitCodes { #expect(page.contains("\\fB\(code.code)\\fR\n")) }
        #expect(page.contains("\\fB\\-\\-max\\-delete\\fR") && !page.contains("\\-\\-exit\\-code"))
        #expect(page.contains("\\fBfsync\\-lite\\-commands\\fR(1)"))
        #expect(page.count(where: \.isNewline) < 500)
        #expect(try CommandRun(["help", "--man"]).output == page)
    }

    @Test func secondPageTellsOfEveryCommandAndOption() throws {
        let page = ManualPage(program: program, hasAllCommands: true).text
        for command in program.descriptions {
            #expect(page.contains(".SS fsync\\-lite \(command.name)"))
            for option in command.options {
                #expect(page.contains("\\fB\(option.name.replacing("-", with: "\\-"))\\fR"), "\(option.name)")
            }
        }
        // An option of several commands is there once.
        #expect(page.split(separator: "\n").count { $0.hasPrefix("\\fB\\-\\-exclude\\fR") } == 1)
        let headings = page.split(separator: "\n").filter { $0.hasPrefix(".SS ") && !$0.contains("fsync") }
        #expect(Set(headings).count == headings.count)
        for heading in ["EXAMPLES", "SEE ALSO"] { #expect(page.contains(".SH \(heading)\n")) }
        #expect(try CommandRun(["help", "--all", "--man"]).output == page)
    }

    @Test func settingsPageTellsOfEveryKey() throws {
        let page = SettingsManualPage(program: program).text
        let keys = OptionDescription.settable.map(\.key) + Hook.Moment.allCases.map(\.rawValue)
        for key in keys + ["source", "target", Job.disabled, Job.comment, Job.report] {
            #expect(page.contains("\\fB\(key)\\fR"), "\(key)")
        }
        #expect(page.contains("\\fBdigest\\fR: \\fItrue, false, \"all\" or \"none\"\\fR"), "\(page)")
        #expect(page.contains("\\fBno_delete\\fR: \\fItrue or false\\fR"))
        for variable in ["JOB", "TARGET", "OUTCOME", "EXIT_CODE", "MESSAGE"] {
            #expect(page.contains("FSYNC_LITE_\(variable)"), "\(variable)")
        }
        #expect(!page.contains("the report in JSON"))
        #expect(try CommandRun(["help", "settings", "--man"]).output == page)
    }

    @Test(arguments: ["mandoc -Tlint -Wwarning", "groff -man -ww -Tutf8", "man -l"])
    func formattersAcceptTheManualPages(formatter: String) throws {
        guard Need.tool(String(formatter.prefix { $0 != " " })).isThere() else { return }
        let pages = [false, true].map { ManualPage(program: program, hasAllCommands: $0).text }
        for page in pages + [SettingsManualPage(program: program).text] {
            try written(page) { path in
                // Their warnings go to either stream. For a good page, the second stream is empty.
                let quiet = formatter.hasPrefix("mandoc") ? "" : ">/dev/null"
                let said = try HostCommand.output("sh", "-c", "\(formatter) '\(path)' 2>&1 \(quiet)")
                #expect(said == "")
            }
        }
    }

    @Test func manualPageKeepsBackslashesHyphensAndDotsApart() {
        let page = ManualPage(
            program: ProgramDescription(
                name: "x", summary: "It", discussion: ".dot first\n'quote\n  a\\b --c", version: "1",
                released: "2026-11-21", sections: [], exitCodes: [])
        ).text
        #expect(page.contains("\\&.dot first\n.PP\n\\&\\(aqquote\n.PP\n.nf\n  a\\eb \\-\\-c\n.fi"))
    }

    @Test(arguments: Shell.allCases)
    func shellsParseTheirCompletions(shell: Shell) throws {
        let text = try CommandRun(["completions", shell.rawValue]).output
        #expect(text == shell.completions(of: program))
        for option in program.descriptions.flatMap(\.options) {
            #expect(text.contains(shell == .fish ? "-l \(option.name.dropFirst(2)) " : option.name))
        }
        guard Need.tool(shell.rawValue).isThere() else { return }
        try written(text) { path in #expect(HostCommand.works(shell.rawValue, "-n", path)) }
    }

    /// The typed part of a command line, and the words that may follow.
    static let lines: [(line: String, words: Set<String>)] = [
        ("", Set(["plan", "apply", "manifest", "help", "completions"])), ("pl", ["plan"]),
        ("manifest ", ["create", "show", "list", "diff", "export"]), ("manifest sh", ["show"]),
        ("manifest list --ty", ["--type"]), ("manifest list --type f", ["file", "fifo"]),
        ("plan so", ["source/"]), ("manifest show so", ["source.json", "source/"]),
        ("completions z", ["zsh"]), ("help ma", ["manifest"]), ("help snapshot ", ["list", "restore"]),
        ("help snapshot re", ["restore"]),
        ("plan --exclude-f", ["--exclude-from"]),
        ("manifest export m --format ", ["mtree", "sha256sum"]), ("--ver", ["--version"]),
    ]

    private static let bash = """
        source "$1"; cd "$2"
        read -ra COMP_WORDS <<< "$3"
        [[ $3 == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        compopt() { :; }
        _fsync_lite
        for word in "${COMPREPLY[@]}"; do [[ -d $word ]] && word+=/; echo "$word"; done
        """
    private static let fish = """
        source $argv[1]; cd $argv[2]; complete -C $argv[3] | string split -f 1 \\t; true
        """

    @Test(arguments: lines)
    func shellsComplete(line: String, words: Set<String>) throws {
        for shell in [Shell.bash, .fish] where Need.tool(shell.rawValue).isThere() {
            #expect(try completions(line, shell: shell).isSuperset(of: words), "\(shell)")
        }
    }

    /// Snapshots of the target on the line, and jobs of the settings.
    @Test(arguments: [Shell.bash, .fish]) func shellsAskForSnapshotsAndJobs(shell: Shell) throws {
        guard Need.tool(shell.rawValue).isThere() else { return }
        let scene = try MirrorScene(["a": "one"])
        try scene.mirror()
        try scene.build(
            ["fsync-lite": ["settings.json": #"{"jobs": {"photos": {"source": "/a", "target": "/b"}}}"#]],
            at: "settings")
        let tool = URL(fileURLWithPath: try BuiltCommand.path()).deletingLastPathComponent().path
        let ids = Set(try scene.run("snapshot", "list", "target", "--ids").lines)
        #expect(ids.count == 2)
        let words: [(String, Set<String>)] = [
            ("snapshot show \(scene.target) ", ids.union(["latest"])),
            ("snapshot restore --to x --log-file=y \(scene.target) ", ids.union(["latest"])),
            ("snapshot diff \(scene.target) latest ", ids.union(["latest"])), ("run ", ["photos"]),
            ("status ", ["photos", "source/"]), ("status source ph", ["photos"]),
        ]
        for (line, expected) in words {
            let found = try completions(
                line, shell: shell,
                environment: ["XDG_CONFIG_HOME=\(scene.path("settings"))", "PATH=\(tool):/usr/bin:/bin"])
            #expect(found.isSuperset(of: expected), "\(line): \(found)")
        }
    }

    private func completions(
        _ line: String, shell: Shell, environment: [String] = []
    ) throws -> Set<String> {
        let directory = try TemporaryDirectory()
        let tree: TreeLiteral = ["source": [:], "source.json": "{}", "other": [:]]
        try tree.build(at: "\(directory.path)/tree")
        var words: Set<String> = []
        try written(shell.completions(of: program)) { path in
            let options =
                shell == .bash
                ? ["bash", "--norc", "-c", Self.bash, "-"] : ["fish", "--no-config", "-c", Self.fish]
            let output = try HostCommand.output(
                ["env"] + environment + options + [path, "\(directory.path)/tree", "fsync-lite \(line)"])
            words = Set(output.split(separator: "\n").map(String.init))
        }
        return words
    }
}
