import FsyncLite
import Testing

@testable import fsync_lite

/// A client's options open no file of this machine by its name, and unknown ones are refused.
struct ClientOptionTests {
    private static let path = Array("/etc/passwd".utf8)

    private func options(
        _ sent: [String], for command: any Command.Type = ApplyCommand.self,
        document: [UInt8]? = nil
    ) throws -> GivenOptions {
        let terminal = RemoteCommand.Terminal(.output)
        var request = RemoteCommand(
            command.name, [], options: sent.map { Array($0.utf8) }, typed: [], defaults: [], host: "here",
            output: terminal, errors: terminal)
        request.document = document
        return try Invocation.options(of: request, for: command)
    }

    @Test func noOptionOpensAFileByItsName() throws {
        let commands = ProgramDescription.fsyncLite.commands.filter { $0.remoteTarget != nil }
        #expect(commands.count > 15)
        for command in commands {
            for option in command.description.options where option.isOfThisMachine {
                #expect(throws: UsageError.self, "\(command.name) \(option.name)") {
                    try options(["\(option.name)=/etc/passwd"], for: command)
                }
            }
            #expect(throws: UsageError.self) {
                try options(["--remote-command=/etc/passwd"], for: command)
            }
        }
        for name in ["--log-file", "--exclude-from"] {
            for origin in [SettingsLayer.Origin.defaults, .job] {
                #expect(throws: UsageError.self, "\(name)") {
                    try SettingsLayer([RemoteCommand.Option(name, [Self.path])], origin)
                }
            }
        }
    }

    @Test func everyOtherOptionOfAnApplyIsTaken() throws {
        for option in ApplyCommand.description.options where !option.isOfThisMachine {
            guard !["--remote-command", "--install"].contains(option.name) else { continue }
            let word = option.choices.first ?? "1"
            let given = try options([option.takesValue ? "\(option.name)=\(word)" : option.name])
            #expect(given.has(option), "\(option.name)")
        }
        #expect(try options(["--log-file=-"]).list.count == 1)
    }

    /// Values may look like options, and arguments too.
    @Test func theWordsThatAreSentGiveTheSameCommandLine() throws {
        let typed = [
            "apply", "--exclude=--x=y", "--exclude=-h", "--adopt", "--keep-label=", "--", "--help", "-t",
        ]
        let parser = CommandLineParser(program: ProgramDescription.fsyncLite)
        let parsed = try parser.parse(typed.map { Array($0.utf8) })
        let again = try parser.parse(parsed.words(with: parsed.options))
        let isSameCommand = again.command == parsed.command
        #expect(isSameCommand)
        #expect(again.arguments == parsed.arguments)
        #expect(again.options.words == parsed.options.words)
        #expect(again.options.list.count == 4)
    }

    @Test func whatNoCommandLineGivesIsRefused() {
        let bad = [
            ["--nonsense"], ["--adopt=1"], ["--max-delete"], ["--adopt", "--adopt"],
            ["--max-delete=1", "--max-delete=2"], ["--plan=-"], ["--retention=1"], ["word"], ["--", "word"],
        ]
        for sent in bad { #expect(throws: UsageError.self, "\(sent)") { try options(sent) } }
        #expect(throws: UsageError.self) { try options([], document: [0x7B]) }
    }
}
