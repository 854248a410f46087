import Testing

@testable import fsync_lite

@Suite struct HelpTextTests {
    @Test func describesTheProgram() {
        #expect(
            HelpText(program: sample, showsAll: true).text(for: nil) == """
                sample: Mirror directories
                Usage: sample COMMAND [OPTIONS] [ARGUMENTS]

                Every day:
                  plan             Show what apply would change
                  copy             Copy files
                  list             List snapshots

                Check:
                  manifest verify  Compare a directory with its manifest

                Rarely needed:
                  manifest create  Record a directory's contents

                Options:
                  -h, --help       Show this help
                      --version    Show the version

                Exit codes:
                  0   done
                  64  the command line is wrong

                See 'sample help COMMAND' for the options of a command.

                """)
    }

    @Test func leavesOutWhatIsRarelyNeeded() {
        #expect(
            HelpText(program: sample).text(for: nil) == """
                sample: Mirror directories
                Usage: sample COMMAND [OPTIONS] [ARGUMENTS]

                Every day:
                  plan             Show what apply would change
                  copy             Copy files
                  list             List snapshots

                Check:
                  manifest verify  Compare a directory with its manifest

                Exit codes:
                  0  done

                See 'sample help COMMAND' for the options of a command.
                See 'sample help --all' for all commands and exit codes.

                """)
        #expect(
            HelpText(program: sample).text(for: SampleCopy.description) == """
                Copy files

                Usage: sample copy [OPTIONS] FILE... TARGET

                Arguments:
                  FILE           what to copy
                  TARGET         where to

                Options:
                      --limit N  Stop after N files
                  -h, --help     Show this help

                See 'sample help copy --all' for all 3 options.

                """)
        let all = HelpText(program: sample, showsAll: true).text(for: SampleCopy.description)
        #expect(all.contains("\nSpeed:\n") && all.contains("--threads N") && !all.contains("See "))
    }

    @Test func helpFitsAScreen() {
        let program = ProgramDescription.fsyncLite
        let (short, whole) = (HelpText(program: program), HelpText(program: program, showsAll: true))
        func lines(_ text: String) -> [Substring] {
            text.split(separator: "\n", omittingEmptySubsequences: false)
        }
        func options(_ text: String) -> Int { lines(text).count { $0.contains(/^  (-.,|   ) --/) } }
        #expect(lines(short.text(for: nil)).dropLast().count <= 40)
        #expect(lines(short.text(for: ApplyCommand.description)).dropLast().count <= 50)
        #expect(options(short.text(for: ApplyCommand.description)) <= 18)
        for command in program.descriptions {
            let rare = command.allOptions.count { $0.isRare }
            #expect(options(short.text(for: command)) == command.allOptions.count - rare, "\(command.name)")
            #expect(options(whole.text(for: command)) == command.allOptions.count, "\(command.name)")
            #expect(whole.text(for: nil).contains("\n  \(command.name) "), "\(command.name)")
        }
        for code in program.exitCodes {
            #expect(
                short.text(for: nil).contains("\n  \(code.code) ")
                    == ([0, 1, 2, 3, 4, 75].contains(code.code)))
            #expect(whole.text(for: nil).contains("\n  \(code.code) "))
        }
    }

    @Test func describesACommand() {
        #expect(
            HelpText(program: sample).text(for: sample.descriptions[0]) == """
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
                      --exclude KEYWORD  Leave out matching paths
                  -h, --help             Show this help

                """)
    }

    @Test func showsOptionalAndRepeatedArgumentsInTheUsageLine() {
        #expect(sample.usage(of: sample.descriptions[2]) == "sample list [OPTIONS] STORE [ID] [PATH...]")
    }

    @Test func staysWithinTheWidth() {
        for command in sample.descriptions.map(Optional.some) + [nil] {
            for line in HelpText(program: sample).text(for: command).split(separator: "\n") {
                #expect(line.count <= 80)
            }
        }
    }
}
