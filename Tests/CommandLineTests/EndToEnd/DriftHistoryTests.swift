import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("The history of a target that was edited between two runs")
struct DriftHistoryTests {
    private func restored(_ scene: MirrorScene, _ snapshot: String) throws -> String {
        let copy = "copy of \(snapshot)"
        try scene.run("snapshot", "restore", "target", snapshot, "--to", copy).expect(0)
        return scene.path(copy)
    }

    private func note(_ path: String) throws -> [UInt8]? {
        try RawPath.attributes(of: Array(path.utf8))[Array("user.note".utf8)]
    }

    private func modified(_ path: String) throws -> Date? {
        try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    }

    /// No record had its extended attributes when it was moved into the history.
    @Test func whatNoRunBroughtComesBackWithItsAttributes() throws {
        let scene = try MirrorScene(["a": "a", "changed": "source"]).mirrored()
        try scene.build(["new": "new"], at: "target")
        try scene.append("!", to: "target/changed")
        for name in ["new", "changed"] {
            try RawPath.setAttribute("user.note", [1], on: scene.path("target/\(name)"))
        }
        try scene.mirror()
        let copy = try restored(scene, "latest~1")
        #expect(try note("\(copy)/new") == [1])
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try note(scene.path("target/new")) == [1])
        #expect(try note(scene.path("target/changed")) == [1])
    }

    /// The record has its attributes from before the edit.
    @Test func whatWasEditedAndGoesComesBackWithItsAttributes() throws {
        let scene = try MirrorScene(["a": "a", "edited": "edited", "stays": "stays"])
        try RawPath.setAttribute("user.note", [1], on: scene.path("source/edited"))
        try scene.mirror()
        try scene.append("!", to: "source/a")
        try scene.mirror()
        for name in ["edited", "stays"] {
            try RawPath.setAttribute("user.note", [2], on: scene.path("target/\(name)"))
        }
        try scene.remove("source/edited")
        try scene.mirror()
        // One snapshot has them as the run found them, and one has them as they were before.
        let (found, before) = (try restored(scene, "latest~1"), try restored(scene, "latest~2"))
        for name in ["edited", "stays"] { #expect(try note("\(found)/\(name)") == [2]) }
        #expect(try note("\(before)/edited") == [1] && note("\(before)/stays") == nil)
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try note(scene.path("target/edited")) == [2])
        #expect(try scene.run("manifest", "verify", "target", "target").code == 0)
    }

    /// An entry that only the target has is recorded as it is.
    @Test func withoutDeletionsTheRecordHasAttributesOfWhatStays() throws {
        let scene = try MirrorScene(["a": "a"]).mirrored()
        try scene.build(["mine": "mine"], at: "target")
        try RawPath.setAttribute("user.note", [1], on: scene.path("target/mine"))
        #expect(try scene.apply("--no-delete").code == 0)
        #expect(try scene.run("manifest", "verify", "target", "target").code == 0)
        #expect(try note("\(restored(scene, "latest"))/mine") == [1])
    }

    @Test(arguments: ["more", ""]) func withoutDeletionsAFileKeepsItsNames(edit: String) throws {
        let scene = try MirrorScene(["one": "one"])
        try scene.link("source/two", to: "source/one")
        try scene.mirror()
        try scene.remove("source/one")
        if !edit.isEmpty { try scene.append(edit, to: "source/two") }
        #expect(try scene.apply("--no-delete").code == 0)
        for snapshot in edit.isEmpty ? ["latest~1", "latest"] : ["latest~1"] {
            let tree = try TreeSnapshot(restored(scene, snapshot))
            #expect(tree.inode("one") != nil && tree.inode("one") == tree.inode("two"), "\(snapshot)")
        }
    }

    /// The root is not an entry of the manifest.
    @Test func theRootOfEarlierSnapshotsIsFromBeforeAnEdit() throws {
        let scene = try MirrorScene(["a": "a", "d": ["e": "e"]]).mirrored()
        let before = try modified(scene.path("target"))
        // No change in the root.
        try scene.build(["f": "f"], at: "source/d")
        try scene.mirror()
        try scene.build(["mine": "mine"], at: "target")
        try RawPath.setAttribute("user.note", [1], on: scene.path("target"))
        let edited = try modified(scene.path("target"))
        try scene.mirror()
        let (found, first) = (try restored(scene, "latest~1"), try restored(scene, "latest~2"))
        #expect(try modified(found) == edited)
        #expect(try note(found) == [1])
        #expect(try modified(first) == before)
        #expect(try note(first) == nil)
    }

    /// A move of the state moves the root's time.
    @Test(.needs(.strace))
    func theRootKeepsItsTimeWhereTheMoveOfTheStateIsCutShort() throws {
        let scene = try MirrorScene(["a": "a"], inMemory: true).mirrored("--exchange")
        let before = try modified(scene.path("target"))
        try scene.append("!", to: "source/a")
        try scene.paused(at: .after("renameat2", of: ".target.fsync-lite")).kill()
        #expect(scene.exists("target/.fsync-lite"))
        #expect(try modified(scene.path("target")) != before)
        #expect(try scene.run("recover", "target").code == 0)
        #expect(try modified(scene.path("target")) == before)
        try scene.mirror()
    }

    /// The target's file was touched, and then the source was edited. The target has the old version.
    @Test func anEditOfTheSourceIsNoEditOfTheTarget() throws {
        let scene = try MirrorScene(["a": "old", "b": "b"])
        try scene.link("source/c", to: "source/a")
        try scene.mirror()
        try scene.append("!", to: "source/b")
        try scene.mirror()
        let mode = try scene.status("target/a").st_mode
        try scene.setMode(0o600, of: "target/a")
        try scene.setMode(mode & 0o777, of: "target/a")
        try scene.editInSecret("source/a", "new")
        try scene.mirror()
        #expect(try scene.text("target/c") == "new")
        for step in 1...2 {
            try scene.run("snapshot", "restore", "target", "latest~\(step)", "--to", "copy\(step)").expect(0)
            #expect(try scene.text("copy\(step)/c") == "old")
        }
    }

    /// An undo does not look at the source. The next run finds that the source was edited before the undo.
    @Test func anEditOfTheSourceBeforeAnUndoIsNoEditOfTheTarget() throws {
        let scene = try MirrorScene(["a": "old", "b": "b"]).mirrored()
        try scene.editInSecret("source/a", "new")
        try scene.mirror()
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/a") == "old")
        let mode = try scene.status("target/a").st_mode
        for mode in [0o600, mode & 0o777] { try scene.setMode(mode, of: "target/a") }
        try scene.mirror()
        #expect(try scene.text("target/a") == "new")
        for (step, text) in [(1, "old"), (2, "new"), (3, "old")] {
            try scene.run("snapshot", "restore", "target", "latest~\(step)", "--to", "copy\(step)").expect(0)
            #expect(try scene.text("copy\(step)/a") == text)
        }
    }

    /// An undo looks only at the objects that it changes.
    @Test func whatWasDeletedByHandElsewhereIsNotLookedAtByAnUndo() throws {
        let scene = try MirrorScene(["d": ["a": "a"], "e": "e"]).mirrored()
        try scene.append("!", to: "source/e")
        try scene.mirror()
        try scene.remove("target/d")
        let undo = try scene.run("undo", "target")
        #expect(undo.code == 0 && !undo.errors.contains("d/a"), "\(undo.errors)")
        #expect(try scene.text("target/e") == "e")
        try scene.run("plan", "source", "target").expect(prints: "+ d/a")
        try scene.mirror()
        #expect(try scene.text("target/d/a") == "a")
    }

    /// A file that was deleted by hand, and does not come back, is no longer in the record.
    @Test func whatWasDeletedByHandIsOutOfTheRecordAfterAnUndo() throws {
        let scene = try MirrorScene(["d": ["a": "a"], "e": "e"]).mirrored()
        try scene.append("!", to: "source/e")
        try scene.build(["b": "b"], at: "source/d")
        try scene.mirror()
        try scene.remove("target/d")
        try scene.run("undo", "target").expect(
            3, says: "d/a: it was removed from the target since, and is not restored (drift)")
        #expect(try scene.run("manifest", "verify", "target", "target").code == 0)
        for step in 0...2 {
            let copy = "copy\(step)"
            let run = try scene.run("snapshot", "restore", "target", "latest~\(step)", "--to", copy)
            // The undo found that it was missing.
            #expect(run.code == (step < 2 ? 0 : 3), "\(run.errors)")
            #expect(scene.exists("\(copy)/d") == (step == 2))
        }
        try scene.mirror()
    }

    /// A directory for a returning entry was replaced by hand. The edit is moved into the history.
    @Test func anEditInTheWayGivesWay() throws {
        let scene = try MirrorScene(["a": ["gone": "1", "kept": "2"]])
        // The directory itself does not change.
        let time = TreeTime(1_600_000_000, 0)
        try time.set(on: scene.path("source/a"))
        try scene.mirror("--keep-last", "9")
        try scene.remove("source/a/gone")
        try time.set(on: scene.path("source/a"))
        try scene.mirror()
        try scene.remove("target/a")
        try scene.build(["a": "edit"], at: "target")
        try scene.run("undo", "target").expect(
            3, says: "a: it was changed in the target since; it is moved to the history (drift)")
        #expect(try scene.text("target/a/gone") == "1")
        #expect(try scene.historyKeeps("edit"))
        try scene.mirror()
    }

    /// If an undo would only protect edits, it is no step, so the run before can still be undone.
    @Test func anUndoThatKeepsEveryEditIsNoStep() throws {
        let scene = try MirrorScene(["f": "1", "g": "1"]).mirrored()
        try scene.append("2", to: "source/f")
        try scene.mirror()
        try HostCommand.run("cp", "-p", scene.path("target/f"), scene.path("kept"))
        try scene.append(" edited", to: "target/f")
        let snapshots = try scene.run("snapshot", "list", "--json", "target").output
        for _ in 0..<2 {
            try scene.run("undo", "target").expect(
                3, says: "f: it was changed in the target since; it is left unchanged (drift)")
        }
        #expect(try scene.run("snapshot", "list", "--json", "target").output == snapshots)
        #expect(try scene.text("target/f") == "12 edited")
        try HostCommand.run("cp", "-p", scene.path("kept"), scene.path("target/f"))
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/f") == "1")
    }

    /// A run can leave a step without changes, for example when source and target lost the same file.
    @Test func anUndoPassesStepsInWhichNothingChanged() throws {
        let scene = try MirrorScene(["f": "1", "g": "1"])
        let time = TreeTime(1_600_000_000, 0)
        func mirror() throws {
            for root in ["source", "target"] where scene.exists(root) { try time.set(on: scene.path(root)) }
            try scene.mirror()
        }
        try mirror()
        try scene.append("2", to: "source/f")
        try mirror()
        try scene.remove("source/g")
        try scene.remove("target/g")
        try mirror()
        #expect(try scene.run("undo", "target").code == 3)
        #expect(try scene.text("target/f") == "1")
    }

    /// The snapshot before a run is the tree that it found, with edits by hand.
    @Test func aRestoreNamesWhatWasEditedByHand() throws {
        // In memory, no time shows that the next run copies the recorded content again.
        let scene = try MirrorScene(["f": "1", "g": "1"], inMemory: true).mirrored()
        try scene.append("2", to: "source/g")
        try scene.mirror()
        try scene.append(" edited", to: "target/f")
        try scene.mirror()
        for (paths, isNamed) in [(["f"], true), (["g"], false), ([], true)] {
            let run = try scene.run(
                ["snapshot", "restore", "target", "latest~1"] + paths + ["--to", "copy"]
            ).expect(0)
            #expect(
                run.errors.contains(
                    "changed in the target after this snapshot was made, and restored with that change: f\n"
                )
                    == isNamed, "\(run.errors)")
            try scene.remove("copy")
        }
        let before = try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy")
        #expect(before.code == 3 && !before.errors.contains("with that change"))
    }

    /// The next run copies the recorded content again, as the digests show, or the times of the source.
    @Test(.needs(.mounts), arguments: [["--digest"], []])
    func earlierSnapshotsGetBackWhatWasOverwrittenByHand(options: [String]) throws {
        let disk = try TemporaryDirectory(inMemory: true)
        try TestDisk.ext4(megabytes: 16).mounted(at: disk.path) {
            let scene = try MirrorScene(
                ["edited": "1", "secret": "1", "gone": "1", "d": ["e": "1"], "f": "1"],
                at: "\(disk.path)/scene")
            try scene.run(["apply", "source", "target"] + options).expect(0)
            try scene.append("2", to: "source/f")
            try scene.mirror()
            try scene.append("!", to: "target/edited")
            try scene.editInSecret("target/secret", "!")
            for name in ["gone", "d"] { try scene.remove("target/\(name)") }
            try scene.mirror()
            let (found, before) = (try restored(scene, "latest~1"), try restored(scene, "latest~2"))
            #expect(try String(contentsOfFile: "\(found)/edited", encoding: .utf8) == "1!")
            #expect(try String(contentsOfFile: "\(found)/secret", encoding: .utf8) == "!")
            #expect(!FileManager.default.fileExists(atPath: "\(found)/gone"))
            for name in ["edited", "secret", "gone", "d/e", "f"] {
                #expect(try String(contentsOfFile: "\(before)/\(name)", encoding: .utf8) == "1")
            }
            try scene.run("snapshot", "verify", "target").expect(0, prints: "4 snapshots are whole")
            try scene.run("undo", "target").expect(0)
            #expect(try scene.text("target/edited") == "1!" && !scene.exists("target/gone"))
        }
    }

    @Test func contentThatWasOverwrittenByHandIsCountedAsLost() throws {
        let scene = try MirrorScene(["f": "1", "g": "1"]).mirrored("--digest")
        try scene.append("2", to: "source/g")
        try scene.mirror()
        for tree in ["source", "target"] { try scene.append(tree, to: "\(tree)/f") }
        try scene.mirror()
        try scene.run("snapshot", "verify", "target").expect(
            0, says: "1 old version is lost, because the copy was changed in the target: f")
    }

    /// Two unchanged files, each with a name outside the target, are not names of one file.
    @Test func whatStaysIsRecordedAsItIs() throws {
        let scene = try MirrorScene(["a": "1", "b": "2", "c": "3"]).mirrored()
        try scene.append("4", to: "source/c")
        try scene.mirror()
        for (name, content) in [("a", "by hand"), ("b", "by another hand")] {
            try scene.append(content, to: "target/\(name)")
            try scene.setMode(name == "a" ? 0o640 : 0o600, of: "target/\(name)")
            try scene.link("\(name) outside", to: "target/\(name)")
        }
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").code == 3)
        let record = try scene.run("manifest", "list", "target", "--json").output
        for (name, size, mode) in [("a", 8, "0640"), ("b", 16, "0600")] {
            let line = record.split(separator: "\n").first { $0.contains("\"path\":\"\(name)\"") } ?? ""
            #expect(line.contains("\"size\":\(size),") && line.contains("\"mode\":\"\(mode)\""), "\(line)")
        }
    }

    /// Somebody swaps a file and a directory. The file of then is lost, and a part of the directory returns.
    @Test func aDirectoryLeavesOneThatStaysForALostFile() throws {
        let scene = try MirrorScene(["e": "file", "g": ["d": ["a": "a"], "b": "b"]]).mirrored()
        try scene.build(["new": "new"], at: "source/g/d")
        try scene.mirror()
        try scene.move("source/g/d", to: "source/d")
        try scene.mirror()
        for (name, other) in [("g", "swapping"), ("e", "g"), ("swapping", "e")] {
            try scene.move("target/\(name)", to: "target/\(other)")
        }
        try scene.move("target/d", to: "target/e/d")
        try scene.apply("--max-delete", "unlimited").expect(0)
        try scene.run("undo", "target").expect(0)
        #expect(try scene.text("target/e/d/new") == "new")
        try scene.run("snapshot", "restore", "target", "latest~4", "--in-place").expect(
            3, says: "e: its old content is lost")
        #expect(try scene.text("target/g/d/a") == "a" && !scene.exists("target/g/d/new"))
    }

    /// An excluded file in the history is not in the tree, but can be restored by its name.
    @Test func whatWasLeftOutAndDisplacedIsRestoredByName() throws {
        let scene = try MirrorScene(["a": "a"])
        try scene.build(["x": ["y": "precious"]], at: "target")
        #expect(try scene.apply("--adopt", "--exclude", "x").code == 0)
        try scene.mirror()
        #expect(!scene.exists("target/x"))
        for (path, copy) in [("x/y", "one"), ("x", "other")] {
            try scene.run("snapshot", "restore", "target", "latest~1", path, "--to", copy).expect(0)
            #expect(try scene.text("\(copy)/x/y") == "precious")
        }
        try scene.run("snapshot", "restore", "target", "latest~1", "--to", "whole").expect(
            0, says: "restored only if you name them: x")
        #expect(!scene.exists("whole/x"))
    }

    /// A file that no run brought is in no tree. It is named in the one that `find` tells.
    @Test func aRestoreNamesAFileThatNoRunBrought() throws {
        let scene = try MirrorScene(["a": "a"]).mirrored()
        try scene.build(["d": [:]], at: "source")
        try scene.mirror()
        try scene.build(["b": "precious"], at: "target/d")
        try scene.remove("source/d")
        #expect(try scene.run("undo", "target").code == 0)
        try scene.mirror()
        for step in 1...3 {
            let run = try scene.run("snapshot", "restore", "target", "latest~\(step)", "--to", "copy")
            let isNamed = run.errors.contains("restored only if you name them: d")
            #expect(run.code == 0 && isNamed == (step == 1), "\(run.errors)")
            #expect(!scene.exists("copy/d/b") && !run.errors.contains("restored with"))
            try scene.remove("copy")
        }
    }
}
