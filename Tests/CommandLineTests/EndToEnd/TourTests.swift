import Foundation
import Glibc
import TestNeeds
import TestSupport
import Testing

/// What the README prints, in a shell.
struct TourTests {
    /// A command of the tour, and what the README prints below it.
    private struct Step {
        var command: String
        var output: [String] = []
    }

    private func steps(_ readme: String) -> [Step] {
        var steps: [Step] = []
        var isConsole = false
        for line in readme.components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                isConsole = line == "```console"
            } else if isConsole, line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else if isConsole {
                steps[steps.count - 1].output.append(line)
            }
        }
        // The crash that it tells of, in a copy: what follows goes on from before.
        if let crash = steps.firstIndex(where: { $0.output.contains { $0.contains("recover mirror") } }) {
            steps[crash].command = Self.crash + steps[crash].command
            steps[crash + 2].command += "; cd ../tour"
        }
        return steps
    }

    private static let crash = """
        cp -a ../tour ../copy; cd ../copy
        for n in $(seq 3000); do echo $n > photos/new-$n; done
        (strace -f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:signal=KILL:when=200 \
            fsync-lite apply photos mirror; :) >/dev/null 2>&1

        """

    /// Without what is new each time.
    private func lasting(_ line: String, _ directory: String) -> String {
        line.replacing(#/\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{4}/#, with: "ID")
            .replacing(#/\b[0-9a-f]{8}\b/#, with: "ID")
            .replacing(#/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/#, with: "TIME")
            .replacing(#/ \d+:\d+ /#, with: " OWNER ").replacing(#/\d+ s ago/#, with: "now")
            .replacing("/home/me", with: directory)
    }

    @Test(
        .needs(.root, .strace, .tool("bash"), .tool("jq"), .tool("mtree", package: "mtree-netbsd")))
    func everyCommandWorksAsPrinted() throws {
        let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../README.md").standardizedFileURL.path
        let directory = try TemporaryDirectory()
        let tour = "\(directory.path)/tour"
        let steps = steps(try String(contentsOfFile: readme, encoding: .utf8))
        #expect(steps.count > 40)
        let command = URL(fileURLWithPath: try BuiltCommand.path()).deletingLastPathComponent().path
        let script =
            "umask 022; exec 2>&1; export PATH='\(command)':$PATH XDG_CONFIG_HOME=/nowhere; mkdir '\(tour)'; cd '\(tour)'\n"
            + steps.map { "echo '=== next'\n\($0.command)\n" }.joined() + "true\n"
        let output = try HostCommand.output("bash", "-c", script)
        let parts = output.components(separatedBy: "=== next\n").dropFirst()
        for (step, part) in zip(steps, parts) {
            let printed = part.split(separator: "\n").map { lasting(String($0), tour) }
            #expect(printed == step.output.map { lasting($0, tour) }, "\(step.command)")
        }
        #expect(parts.count == steps.count)
    }
}
