import Foundation
import TestSupport
import Testing

@testable import fsync_lite

/// The blocks of pages that are not consoles must name existing things. `TourTests` runs the consoles.
struct PageTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL.path
    private static let catalogs = ["FsyncLite", "FileStorage"].map { "Sources/\($0)/\($0).docc" }

    static func pages() throws -> [String] {
        try ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
            + catalogs.flatMap { catalog in
                try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(catalog)")
                    .filter { $0.hasSuffix(".md") }.map { "\(catalog)/\($0)" }
            }
    }

    /// The lines of a page, with the language of each block: nil outside, "" if it has none.
    private func lines(of page: String) throws -> [(text: String, language: String?)] {
        var language: String?
        return try String(contentsOfFile: "\(Self.root)/\(page)", encoding: .utf8).components(
            separatedBy: "\n"
        )
        .compactMap { line in
            guard line.hasPrefix("```") else { return (line, language) }
            language = language == nil ? String(line.dropFirst(3)) : nil
            return nil
        }
    }

    /// Swift is compiled by the tests of the articles.
    private static let languages: [String: Set<String>] = [
        "swift": ["FsyncLite.md", "Library.md", "FileStorage.md"], "json": ["Jobs.md"], "": ["Design.md"],
    ]

    @Test(arguments: try pages()) func everyBlockIsTried(page: String) throws {
        let name = URL(fileURLWithPath: page).lastPathComponent
        for language in Set(try lines(of: page).compactMap(\.language)) where language != "console" {
            #expect(
                Self.languages[language]?.contains(name) == true, "a block of \(language) that no test tries")
        }
    }

    @Test func settingsOnThePageAreValid() throws {
        let page = "Sources/FsyncLite/FsyncLite.docc/Jobs.md"
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/settings.json"
        try lines(of: page).filter { $0.language == "json" }.map(\.text).joined(separator: "\n")
            .write(toFile: file, atomically: true, encoding: .utf8)
        try CommandRun(["settings", "show", "photos", "--settings", file]).expect(0, prints: "keep_daily")
    }

    @Test func everyFormatIsOnThePage() throws {
        let page = try lines(of: "Sources/FsyncLite/FsyncLite.docc/JSON.md").map(\.text).joined()
        let found = try HostCommand.output(
            "grep", "-rhoE", "--include=*.swift", "\"fsync-lite-[a-z-]+\"", "\(Self.root)/Sources")
        let formats = Set(found.split(separator: "\n").map { $0.replacing("\"", with: "`") })
        #expect(formats.count > 10)
        for format in formats { #expect(page.contains(format), "\(format)") }
    }

    /// The page lists exactly the exit codes of the command.
    @Test func everyExitCodeIsOnThePage() throws {
        let rows = try lines(of: "Sources/FsyncLite/FsyncLite.docc/ExitCodes.md")
            .compactMap { $0.text.wholeMatch(of: /\| ([0-9, ]+) \|.*/) }
        let codes = rows.flatMap { $0.output.1.split(separator: ", ") }.compactMap { Int32($0) }
        #expect(Set(codes) == Set(ExitCode.allCases.map(\.rawValue)))
    }

    /// Commands in indented blocks: scripts and files of this repository, with options that the scripts have.
    @Test(arguments: try pages()) func shownCommandsNameWhatIsThere(page: String) throws {
        let commands = try lines(of: page).filter { $0.language == nil && $0.text.hasPrefix("    ") }.map(
            \.text)
        for command in commands {
            let words = command.split { " [];:&)".contains($0) }.map(String.init)
            for path in words where path.hasPrefix("scripts/") || path.hasPrefix("Sources/") {
                let (directory, pattern) = (URL(fileURLWithPath: "\(Self.root)/\(path)"), path.hasSuffix("*"))
                let found = pattern ? directory.deletingLastPathComponent().path : directory.path
                #expect(FileManager.default.fileExists(atPath: found), "\(command)")
            }
            guard let script = words.first(where: { $0 != "sudo" }), script.hasPrefix("scripts/") else {
                continue
            }
            #expect(FileManager.default.isExecutableFile(atPath: "\(Self.root)/\(script)"))
            for option in words where option.hasPrefix("--") {
                #expect(
                    HostCommand.works(
                        "grep", "-rqs", "--", option, "\(Self.root)/\(script)",
                        "\(Self.root)/\(script)_harness",
                        "\(Self.root)/scripts/harness"), "\(script) has no \(option)")
            }
        }
    }
}
