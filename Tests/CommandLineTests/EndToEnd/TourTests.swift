import Foundation
import TestNeeds
import TestSupport
import Testing

/// Runs the consoles of the README and of the catalog's pages, each in a new directory.
struct TourTests {
    /// A command, its continuation lines, and the output that the page shows.
    private struct Step {
        var command: String
        var output: [String] = []
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL
    private static let catalog = "Sources/FsyncLite/FsyncLite.docc"

    /// The README and every page with a console.
    static func pages() throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: root.appendingPathComponent(catalog).path)
        return try ["README.md"]
            + names.sorted().map { "\(catalog)/\($0)" }.filter { page in
                try page.hasSuffix(".md") && text(of: page).contains("```console")
            }
    }

    private static func text(of page: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
    }

    private func steps(_ page: String) -> [Step] {
        var steps: [Step] = []
        var isConsole = false
        for line in page.components(separatedBy: "\n") {
            if line.hasPrefix("```") {
                isConsole = line == "```console"
            } else if isConsole, line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else if isConsole, line.hasPrefix("> "), steps.last?.output.isEmpty ?? false {
                steps[steps.count - 1].command += "\n" + line.dropFirst(2)
            } else if isConsole {
                steps[steps.count - 1].output.append(line)
            }
        }
        // A crash in a page comes before the command that first notices it.
        if let crash = steps.firstIndex(where: { $0.output.contains { $0.contains("recover mirror") } }) {
            steps[crash].command = Self.crash + steps[crash].command
        }
        return steps
    }

    /// Another machine is a directory of the same name here.
    private static let ssh = """
        #!/bin/sh
        while [ "${1#-}" != "$1" ]; do shift; done
        cd "$(dirname "$0")/../tour" && mkdir -p "$1" && cd "$1" && shift && exec sh -c "$*"
        """

    private static let crash = """
        for n in $(seq 3000); do echo $n > photos/new-$n; done
        (\(Strace.killing(at: "renameat2", number: 200).joined(separator: " ")) \
            fsync-lite apply photos mirror --change-source; :) >/dev/null 2>&1

        """

    /// Without the parts that are new each time.
    private func lasting(_ line: String, _ directory: String) -> String {
        line.replacing(directory, with: "/home/me")
            .replacing(#/\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{4,32}/#, with: "ID")
            .replacing(#/\b[0-9a-p][0-9a-f]{7}\b/#, with: "ID")
            .replacing(#/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?/#, with: "TIME")
            .replacing(#/\(\d{4}-\d\d-\d\d\)/#, with: "(DAY)")
            .replacing(#/ \d+:\d+ /#, with: " OWNER ").replacing(#/\d+ s ago/#, with: "now")
    }

    @Test(
        .needs(
            .root, .strace, .tool("bash"), .tool("jq"), .tool("rsync"),
            .tool("mtree", package: "mtree-netbsd")),
        arguments: try pages())
    func everyCommandWorksAsPrinted(page: String) throws {
        let directory = try TemporaryDirectory()
        let tour = "\(directory.path)/tour"
        let steps = steps(try Self.text(of: page))
        #expect(!steps.isEmpty)
        let command = URL(fileURLWithPath: try BuiltCommand.path()).deletingLastPathComponent().path
        let bin = "\(directory.path)/bin"
        let script =
            "umask 022; exec 2>&1; mkdir '\(tour)' '\(bin)'; cat > '\(bin)/ssh' <<'END'\n\(Self.ssh)\nEND\n"
            + "chmod +x '\(bin)/ssh'; export PATH='\(command)':'\(bin)':$PATH XDG_CONFIG_HOME=/nowhere FSYNC_LITE_STATE=; cd '\(tour)'\n"
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
