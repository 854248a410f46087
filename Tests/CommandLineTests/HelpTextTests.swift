import Testing

@testable import fsync_lite

@Suite struct HelpTextTests {
    @Test func describesTheProgram() {
        #expect(
            HelpText(program: sample).text(for: nil) == """
                sample: Mirror directories

                Usage: sample COMMAND [OPTIONS] [ARGUMENTS]

                Commands:
                  plan             Show what apply would change
                  copy             Copy files
                  list             List snapshots
                  manifest create  Record a directory's contents
                  manifest verify  Compare a directory with its manifest

                Options:
                  -h, --help       Show this help
                      --version    Show the version

                Exit codes:
                  0   done
                  64  the command line is wrong

                See 'sample help COMMAND' for what a command takes.

                """)
    }

    @Test func describesACommand() {
        #expect(
            HelpText(program: sample).text(for: sample.commands[0]) == """
                Show what apply would change

                Usage: sample plan [OPTIONS] SOURCE TARGET

                Nothing is written, however many files differ between the source and the target
                directory.

                  sample plan src dst

                Arguments:
                  SOURCE                 the directory to mirror
                  TARGET                 the directory to change

                Output:
                  -j, --json             Print JSON
                  -q, --quiet            Print errors only
                  -o, --out FILE         Write the plan to FILE

                Guards:
                      --max-delete N     Refuse a plan that deletes more than N files, counting
                                         every file below a deleted directory
                      --a-name-longer-than-its-column PLACEHOLDER
                                         Goes below its label

                Options:
                      --exclude PATTERN  Leave out matching paths
                  -h, --help             Show this help

                """)
    }

    @Test func showsOptionalAndRepeatedArgumentsInTheUsageLine() {
        #expect(sample.usage(of: sample.commands[2]) == "sample list [OPTIONS] STORE [ID] [PATH...]")
    }

    @Test func staysWithinTheWidth() {
        for command in sample.commands.map(Optional.some) + [nil] {
            for line in HelpText(program: sample).text(for: command).split(separator: "\n") {
                #expect(line.count <= 80)
            }
        }
    }
}
