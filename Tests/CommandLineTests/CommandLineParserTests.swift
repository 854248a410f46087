import Testing

@testable import fsync_lite

@Suite struct CommandLineParserTests {
    private func error(_ arguments: [[UInt8]]) -> UsageError? {
        #expect(throws: UsageError.self) {
            let invocation = try CommandLineParser(program: sample).parse(arguments)
            if invocation.command == HelpCommand.self { _ = try HelpCommand.topic(of: invocation) }
        }
    }

    private func error(_ line: String) -> UsageError? {
        error(line.split(separator: " ").map { bytes(String($0)) })
    }

    @Test(arguments: [
        "plan --out f a b", "plan --out=f a b", "plan -o f a b", "plan -of a b", "plan a --out f b",
        "plan a b -o f", "plan -of -- a b", "plan -jqo f a b", "plan -jof a b",
    ])
    func acceptsEverySpellingOfAValueAnywhere(line: String) throws {
        let plan = try parse(line)
        #expect(plan.command.name == "plan")
        #expect(plan.options.value(SamplePlan.out) == bytes("f"))
        #expect(try plan.argument(SamplePlan.source) == bytes("a"))
        #expect(try plan.argument(SamplePlan.target) == bytes("b"))
    }

    @Test func readsFlagsAndRepeatedOptions() throws {
        let plan = try parse("plan -j --exclude x a --exclude=y=z b --exclude=")
        #expect(plan.options.has(SamplePlan.json))
        #expect(!plan.options.has(SamplePlan.quiet))
        #expect(plan.options.values(SamplePlan.exclude) == [bytes("x"), bytes("y=z"), []])
        #expect(plan.options.value(SamplePlan.out) == nil)
    }

    @Test func takesEverythingAfterTwoDashesAsArguments() throws {
        let plan = try parse("plan -- --json --")
        #expect(!plan.options.has(SamplePlan.json))
        #expect(try plan.argument(SamplePlan.source) == bytes("--json"))
        #expect(try plan.argument(SamplePlan.target) == bytes("--"))
    }

    @Test func takesASingleDashAsAnArgumentAndAsAValue() throws {
        let plan = try parse("plan - b -o -")
        #expect(try plan.argument(SamplePlan.source) == bytes("-"))
        #expect(plan.options.value(SamplePlan.out) == bytes("-"))
    }

    @Test func keepsPathsThatAreNotUTF8() throws {
        let path: [UInt8] = [0x2f, 0xff, 0x0a, 0xc3]
        let arguments = [bytes("plan"), path, path, bytes("--out=") + path, bytes("--exclude"), path]
        let plan = try CommandLineParser(program: sample).parse(arguments)
        #expect(try plan.argument(SamplePlan.source) == path)
        #expect(plan.options.value(SamplePlan.out) == path)
        #expect(plan.options.values(SamplePlan.exclude) == [path])
        let error = #expect(throws: UsageError.self) { try plan.options.text(SamplePlan.out) }
        #expect(error?.message == #"the value of --out is not valid UTF-8: '/\xFF\n\xC3'"#)
    }

    @Test func sharesArgumentsBetweenRequiredOptionalAndRepeated() throws {
        let copy = try parse("copy a b c")
        #expect(copy.values(SampleCopy.file) == [bytes("a"), bytes("b")])
        #expect(try copy.text(SampleCopy.target) == "c")
        let bare = try parse("list s")
        #expect(bare.values(SampleList.id) == [])
        #expect(bare.values(SampleList.path) == [])
        let full = try parse("list s 7 x y")
        #expect(full.values(SampleList.id) == [bytes("7")])
        #expect(full.values(SampleList.path) == [bytes("x"), bytes("y")])
    }

    @Test func readsTextAndIntegers() throws {
        let plan = try parse("plan a b --max-delete 12 --out=é")
        #expect(try plan.options.integer(SamplePlan.maxDelete) == 12)
        #expect(try plan.options.text(SamplePlan.out) == "é")
        #expect(try plan.options.integer(SamplePlan.exclude) == nil)
    }

    @Test(arguments: ["-1", "ten", "1.5", "", "99999999999999999999"])
    func refusesWhatIsNotAnIntegerInRange(value: String) throws {
        let plan = try parse("plan a b --max-delete=\(value)")
        let error = #expect(throws: UsageError.self) { try plan.options.integer(SamplePlan.maxDelete) }
        #expect(error?.message == "'\(value)' is not a value for --max-delete")
        #expect(error?.hint == "give --max-delete a whole number, 0 or more")
    }

    @Test(arguments: [
        ("--help", nil), ("-h", nil), ("help", nil), ("help manifest", nil), ("manifest --help", nil),
        ("help plan", "plan"), ("--help plan", "plan"), ("help manifest create", "manifest create"),
        ("plan --help", "plan"), ("plan --bogus a -h", "plan"), ("plan -jh", "plan"),
    ])
    func answersRequestsForHelp(line: String, topic: String?) throws {
        let invocation = try parse(line)
        #expect(invocation.command.name == "help")
        #expect(try HelpCommand.topic(of: invocation)?.name == topic)
    }

    @Test(arguments: ["help copy --all", "help --all copy", "copy --help --all", "copy --all x -h"])
    func helpShowsAllIfAsked(line: String) throws {
        let invocation = try parse(line)
        #expect(try HelpCommand.topic(of: invocation)?.name == "copy")
        #expect(invocation.options.has(.all))
        #expect(try !parse("copy --help").options.has(.all))
    }

    @Test func answersTheRequestForTheVersionAtTopLevelOnly() throws {
        #expect(try parse("--version").options.has(.versionOption))
        #expect(error("plan --version a b")?.message == "unknown option '--version' for 'plan'")
    }

    @Test(arguments: [
        ("plna a b", "unknown command 'plna'", "did you mean 'plan'?"),
        ("manfest create", "unknown command 'manfest'", "did you mean 'manifest create'?"),
        ("manfest", "unknown command 'manfest'", "did you mean 'manifest'?"),
        ("manfiest veryfi", "unknown command 'manfiest'", "did you mean 'manifest verify'?"),
        ("verify a b", "unknown command 'verify'", "did you mean 'manifest verify'?"),
        ("PLAN a b", "unknown command 'PLAN'", "did you mean 'plan'?"),
        ("--verson", "'--verson' comes before the command", "did you mean '--version'?"),
        ("help --mna", "unknown option '--mna' for 'help'", "did you mean '--man'?"),
        ("plan --exc x", "unknown option '--exc' for 'plan'", "did you mean '--exclude'?"),
        ("list s --quiet", "unknown option '--quiet' for 'list'", "it is an option of 'plan'"),
        ("list s -q", "unknown option '-q' for 'list'", "it is an option of 'plan'"),
        ("list s --sort=nmae", "'nmae' is not a value for --sort", "did you mean 'name'?"),
        ("list s --sort up", "'up' is not a value for --sort", "use one of: name, date"),
        ("manifest-create", "unknown command 'manifest-create'", "did you mean 'manifest create'?"),
        ("manifest craete", "unknown command 'manifest craete'", "did you mean 'manifest create'?"),
        ("help pln", "unknown command 'pln'", "did you mean 'plan'?"),
        ("plan --jsno", "unknown option '--jsno' for 'plan'", "did you mean '--json'?"),
        ("plan -json", "unknown option '-json' for 'plan'", "did you mean '--json'?"),
        ("plan --max-delte=3", "unknown option '--max-delte' for 'plan'", "did you mean '--max-delete'?"),
    ])
    func suggestsACloseSpelling(line: String, message: String, hint: String) {
        #expect(error(line) == UsageError(message, hint: hint))
    }

    @Test(arguments: [
        (
            "", "no command given. The commands are:",
            """
            Every day:
              plan             Show what apply would change
              copy             Copy files
              list             List snapshots

            Check:
              manifest verify  Compare a directory with its manifest
            see 'sample --help' for the commands
            """
        ),
        ("frobnicate", "unknown command 'frobnicate'", "see 'sample --help' for the commands"),
        ("manifest", "'manifest' needs a subcommand", "use one of: manifest verify, manifest create"),
        ("manifest sign", "unknown command 'manifest sign'", "use one of: manifest verify, manifest create"),
        (
            "--json plan a b", "'--json' comes before the command",
            "options go after the command; see 'sample --help' for the commands"
        ),
        (
            "plan -z", "unknown option '-z' for 'plan'",
            "see 'sample plan --help'; write -- before a name that begins with '-'"
        ),
        (
            "plan a b --out", "--out is missing its value FILE",
            "write --out FILE, or --out=FILE for a value that begins with '-'"
        ),
        (
            "plan -o --json a b", "-o is missing its value FILE",
            "write -o FILE, or -oFILE for a value that begins with '-'"
        ),
        (
            "plan --json=yes a b", "--json does not take a value, but was given 'yes'",
            "write --json alone"
        ),
        ("plan -ox --out y a b", "--out is given more than once", "give --out once"),
        ("plan -j --json a b", "--json is given more than once", "give --json once"),
        ("plan a", "'plan' is missing TARGET", "usage: sample plan [OPTIONS] SOURCE TARGET"),
        ("copy", "'copy' is missing FILE, TARGET", "usage: sample copy [OPTIONS] FILE... TARGET"),
        (
            "plan a b c", "'plan' does not take another argument: 'c'",
            "usage: sample plan [OPTIONS] SOURCE TARGET"
        ),
    ])
    func saysWhatIsWrongAndTheWayOut(line: String, message: String, hint: String) {
        #expect(error(line) == UsageError(message, hint: hint))
    }

    @Test func escapesWhatATerminalShouldNotSee() {
        let typed: [UInt8] = [0x1b, 0x5b, 0x5c, 0xff] + bytes("é\u{202e}")
        #expect(error([typed])?.message == #"unknown command '\x1B[\\\xFFé\xE2\x80\xAE'"#)
    }
}
