import Foundation
import TestSupport
import Testing

@Suite("What a command says to input that it cannot use")
struct BadInputTests {
    @Test func vanishedSourceIs66WhateverTheOptionsAndTouchesNothing() throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try scene.move("source", to: "unplugged")
        let before = try scene.wholeTarget()
        try scene.apply(
            "--keep-going", "--allow-empty-source", "--change-source", "--max-delete", "unlimited"
        ).expect(66)
        #expect(try scene.wholeTarget().touched(since: before) == [])
    }

    @Test func whatIsNoDirectoryIs66() throws {
        let scene = try MirrorScene(["file": "1"])
        try scene.build(["x": "x", "pipe": .fifo()], at: "other")
        for (source, target, said) in [
            ("nowhere", "target", "nowhere: the source does not exist"),
            ("source/file", "target", "source/file: the source is a file, not a directory"),
            (
                "source/file/x", "target",
                "source/file/x: the source cannot exist: a part of its path is a file"
            ),
            ("other/pipe", "target", "other/pipe: the source is not a directory"),
            ("source", "other/x", "other/x: the target is a file, not a directory"),
        ] {
            for command in ["plan", "apply"] {
                let run = try scene.run(command, source, target)
                #expect(run.code == 66 && run.errors == "fsync-lite: \(said)\n", "\(run.errors)")
            }
        }
        #expect(!scene.exists("target"))
        #expect(try scene.text("other/x") == "x")
    }

    /// Each with a part of the message. `CommandLineParserTests` has the messages.
    @Test(
        arguments: [
            ([], "no command given"), (["aply", "source", "target"], "did you mean 'apply'?"),
            (["apply", "--kep-going", "source", "target"], "did you mean '--keep-going'?"),
            (["apply", "source"], "missing TARGET"), (["apply", "source", "target", "third"], "'third'"),
            (["apply", "", "target"], "SOURCE is empty"), (["apply", "source", ""], "TARGET is empty"),
            (["apply", "source", "target", "--log-file", ""], "--log-file is empty"),
            (["apply", "source", "target", "--include", ""], "--include is empty"),
            (["apply", "source", "target", "--max-delete", "many"], "--max-delete"),
            (["apply", "host:", "target"], "./"), (["plan", "source", "host:"], "./"),
            (["apply", "--", "-oProxyCommand=x:/y", "target"], "which ssh would read as an option"),
            (["apply", "--prepare", "--exchange", "source", "target"], "--prepare and --exchange exclude"),
            (["manifest", "list", "source", "--type", "fil"], "did you mean 'file'?"),
            (["manifest", "list", "source", "--newer", "soon"], "give an age such as 7d"),
            (["manifest", "list", "source", "--min-size", "huge"], "give a number of bytes"),
            (["manifest", "list", "source", "--tpye", "file"], "did you mean '--type'?"),
        ] as [([String], String)])
    func commandLineWithoutSenseIs64(arguments: [String], text: String) throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.run(arguments).expect(64, says: text)
        #expect(!scene.exists("target"))
    }
}

/// The kinds of damage: `HostileManifestTests`.
@Suite("A manifest that is damaged")
struct DamagedManifestTests {
    @Test(arguments: [false, true])
    func is65NamingFileAndLineAndNothingIsTouched(isCut: Bool) throws {
        let scene = try MirrorScene(["a": "1", "b": "2"]).mirrored()
        let manifest = scene.path("target/.fsync-lite/manifest.json")
        var lines = try String(contentsOfFile: manifest, encoding: .utf8).components(separatedBy: "\n")
        if isCut { lines.removeLast(2) } else { lines[2].replace("\"file\"", with: "\"door\"") }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: manifest))
        try scene.append("more", to: "source/a")
        let before = try scene.wholeTarget()
        for arguments in [
            ["apply", "source", "target"], ["plan", "source", "target"], ["status", "target"],
            ["manifest", "list", "target"], ["manifest", "show", "target/.fsync-lite/manifest.json"],
        ] {
            try scene.run(arguments).expect(65, says: "manifest.json: line \(isCut ? "" : "3: ")")
        }
        #expect(try scene.wholeTarget().touched(since: before) == [])
    }
}
