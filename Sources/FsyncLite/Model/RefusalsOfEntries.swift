import FileStorage
import FileSystem

// The second part of the table of refusals.

// MARK: Entries of the target

extension Refusal {
    static func mountInTarget(_ path: RelativePath) -> Refusal {
        Refusal(
            .mountInTarget, "something is mounted in the target, at \(path); unmount it",
            .first("umount", .inTarget(path.bytes)))
    }

    static func fileSystemInTarget(_ path: RelativePath) -> Refusal {
        Refusal(
            .fileSystemInTarget,
            "another file system or subvolume begins in the target, at \(path); move it away",
            .movingOut(path))
    }

    static func targetInExchange(_ path: RelativePath) -> Refusal {
        Refusal(
            .targetInExchange,
            "\(path) is another target, and an exchange would copy its state. Move it out, or leave out --exchange",
            .without("--exchange"))
    }

    /// Something else of the source would take the place of a directory with another target in it.
    static func targetInTheWay(_ path: RelativePath) -> Refusal {
        Refusal(
            .targetInTheWay,
            "\(path) is another target, but the source has something else at this path. Move it away",
            .movingOut(path))
    }

    static func nameCollision(_ first: RelativePath, _ second: RelativePath) -> Refusal {
        Refusal(
            .nameCollision,
            "the target can have only one of \(first) and \(second), as its file system ignores case or Unicode forms",
            .adding("--exclude", second.pattern))
    }

    static func excludedInTheWay(_ path: RelativePath) -> Refusal {
        Refusal(
            .excludedInTheWay,
            "\(path) in the target is excluded (or contains excluded files), but the source has a new \(path)",
            .adding("--delete-excluded"))
    }

    /// - Parameter new: the path of the source's entry. A directory above may have been renamed.
    static func undeletedInTheWay(_ path: RelativePath, of new: RelativePath) -> Refusal {
        Refusal(
            .undeletedInTheWay,
            "\(path) in the target has files that --no-delete protects, but the source has a new \(new). Leave out --no-delete, or \(new) with --exclude",
            .without("--no-delete"))
    }

    static func locked(_ path: RelativePath, _ status: FileStatus) -> Refusal {
        let flag = status.isImmutable ? ("immutable", "i") : ("append-only", "a")
        let name = path.isRoot ? "the target's root" : "\(path) in the target"
        return Refusal(
            .locked, "\(name) is \(flag.0). To change that: chattr -\(flag.1)",
            .first("chattr", .text(Array("-\(flag.1)".utf8)), .inTarget(path.bytes)))
    }
}

extension Refusal {
    /// An entry whose times only its owner can put right after a move.
    static func entryOfOther(_ owner: UInt32) -> Refusal {
        let isRoot = Account.isRoot
        return Refusal(
            .entryOfOther,
            "it belongs to user \(owner), and only its owner can restore its times; "
                + (isRoot ? "run outside this user namespace" : "run as root"),
            isRoot ? .none : .asUser(0))
    }
}

// MARK: The file system

extension Refusal {
    static func weakFileSystem(_ lack: String) -> Refusal {
        Refusal(.weakFileSystem, "this file system \(lack)", .adding("--weak-commit"))
    }

    static func weakFileSystem(_ capabilities: FileSystemCapabilities) -> Refusal {
        Refusal(
            .weakFileSystem,
            "the target's file system, \(capabilities.name), cannot promise all or nothing. It lacks "
                + capabilities.lacks.joined(separator: ", "), .adding("--weak-commit"))
    }

    static let readOnlyFileSystem = Refusal(
        .readOnlyFileSystem, "the target's file system is mounted read-only",
        .first("mount", "-o", "remount,rw", .mountPoint))

    static func noSpace(_ needed: ByteCount, free: ByteCount, _ history: PrunableHistory) -> Refusal {
        let text = Amount.bytes(needed, over: free)
        let isEnough = needed <= free + history.bytes
        let hopeless =
            history.bytes > 0 ? "; its history uses only \(Amount.bytes(history.bytes))" : ""
        var refusal = Refusal(
            .noSpace,
            "\(text.0) are needed and \(text.1) are free in the target"
                + (isEnough ? advice(history) : hopeless), isEnough ? prune(history) : .none)
        refusal.bytes = Space(needed: needed, free: free)
        return refusal
    }

    static func noInodes(_ needed: Int64, free: Int64, _ history: PrunableHistory) -> Refusal {
        Refusal(
            .noInodes, "\(needed) inodes are needed and \(free) are free in the target\(advice(history))",
            prune(history))
    }

    private static func advice(_ history: PrunableHistory) -> String {
        guard history.bytes > 0 else { return "" }
        return "; \(history.command) frees \(Amount.bytes(history.bytes)) of the history"
    }

    private static func prune(_ history: PrunableHistory) -> WayOut {
        guard history.bytes > 0 else { return .none }
        return .first(
            "fsync-lite", "snapshot", "prune", "--keep-last", .text(Array("\(history.neededSteps)".utf8)),
            .targetName)
    }

    static let spaceForPrepared = Refusal(
        .spaceForPrepared,
        "only the removal of snapshots makes enough space, and --prepare removes none. Prune some, or apply at once",
        .without("--prepare"))

    /// - Parameter reason: why the two trees cannot change places.
    static func exchangeImpossible(_ reason: String) -> Refusal {
        Refusal(.exchangeImpossible, reason, .without("--exchange"))
    }
}

// MARK: Restoring

extension Refusal {
    static func otherSourceDirectory(_ path: [UInt8], isThere: Bool) -> Refusal {
        let file = LocalFile(bytes: path)
        return Refusal(
            .otherSourceDirectory,
            isThere
                ? "\(file) is not the directory that was mirrored. Is a disk missing? To use it: --to \(file)"
                : "the source, \(file), does not exist. Is a disk missing? To make it: --to \(file)",
            .restoring(to: path))
    }

    static func destinationIsTarget(_ path: [UInt8]) -> Refusal {
        Refusal(
            .destinationIsTarget, "\(LocalFile(bytes: path)) is a target; give another directory",
            .restoringBeside(path))
    }

    static func unfinishedRestore(_ path: [UInt8]) -> Refusal {
        Refusal(
            .unfinishedRestore,
            "\(LocalFile(bytes: path)) has files of another restore, which was cut short. Run that restore again to end it",
            .restoringBeside(path))
    }

    static func occupiedDestination(_ path: [UInt8]) -> Refusal {
        Refusal(
            .occupiedDestination,
            "\(LocalFile(bytes: path)) already has files, and a whole tree is copied only to an empty directory. Name the paths to restore, or another directory with --to",
            .restoringBeside(path))
    }

    static func otherKind(_ path: RelativePath, _ type: FileType) -> Refusal {
        Refusal(
            .otherKind,
            "\(path) is a \(type.documentName) in the destination, and has another type in the snapshot; move it away",
            .first("mv", .inTarget(path.bytes), .inTarget(path.bytes + ".moved".utf8)))
    }

    static func wouldOverwrite(_ path: RelativePath, of modified: Timestamp) -> Refusal {
        Refusal(
            .wouldOverwrite,
            "\(path) exists, of \(modified.localText), and would be overwritten",
            .adding("--overwrite"))
    }

    static func moreWouldBeOverwritten(_ count: Int) -> Refusal {
        Refusal(.wouldOverwrite, "\(count) more files would be overwritten", .adding("--overwrite"))
    }
}

extension Refusal {
    static func noSingleSource(_ reason: String, _ advice: String) -> Refusal {
        Refusal(
            .noSingleSource, "\(reason); \(advice)",
            .without("--to-source") + .adding("--to", "restored"))
    }

    /// - Parameter count: how many runs can be taken back.
    static func fewerSnapshots(_ count: Int, _ reason: String) -> Refusal {
        Refusal(.fewerSnapshots, reason, count > 0 ? .adding("--steps", "\(count)") : .none)
    }

    /// The change that a run made to a path.
    enum Fate {
        case deleted, gone, broughtLater
        case moved(to: RelativePath)
    }

    /// - Parameters:
    ///   - began: the begin of the run that made the change; nil if it is unknown.
    ///   - file: the version that is nearest.
    ///   - id: of the snapshot that has that version.
    static func notInSnapshot(
        _ path: RelativePath, _ snapshot: String, _ began: Timestamp?, _ fate: Fate, _ file: File,
        in id: String
    ) -> Refusal {
        let time = began.map { String($0.localText.prefix(16)) } ?? "an earlier time"
        let what =
            switch fate {
            case .deleted: "deleted it"
            case .gone: "does not have it any more"
            case .broughtLater: "brought it"
            case .moved(let path): "moved it to \(path)"
            }
        let size = file.isFile ? "has \(Amount.bytes(file.size)), from" : "is from"
        let nearest = if case .broughtLater = fate { "first" } else { "newest" }
        return Refusal(
            .notInSnapshot,
            "\(path) is not in \(escapedText(snapshot.utf8)): the run of \(time) \(what). The \(nearest) version \(size) "
                + "\(file.modified.localText.prefix(16))", .argument(Refusal.id, Array(id.utf8)))
    }

    /// The argument that names a snapshot.
    static let id = "ID"

    static func neededSnapshot(_ id: String, isPresent: Bool) -> Refusal {
        Refusal(
            .neededSnapshot,
            isPresent
                ? "\(id) is the present tree, which is never removed"
                : "\(id) is the snapshot before the present tree, which undo needs. It can be removed after the next run",
            .none)
    }

    static let nothingToLabel = Refusal(
        .nothingToLabel, "there is nothing to label: this target keeps no history; see keep_last", .none)
}

// MARK: Plans that were made before

extension Refusal {
    static func changedSincePlan(_ what: String) -> Refusal { Refusal(.changedSincePlan, what, .none) }

    static func changedSincePrepared(_ what: String) -> Refusal {
        Refusal(.changedSincePrepared, what, .none)
    }

    /// - Parameter sources: of what was prepared.
    func preparing(_ id: String, _ sources: [(name: String?, path: [UInt8])]) -> Refusal {
        let again: WayOut =
            if sources.count == 1, sources[0].name == nil {
                .command("fsync-lite", "apply", "--prepare", .text(sources[0].path), .targetName)
            } else {
                .command("fsync-lite", "abandon", .targetName, .text(Array(id.utf8)))
            }
        return Refusal(kind, reason, again)
    }
}

// MARK: Other machines

extension Refusal {
    /// - Parameter reason: what the other end asks for, and may not have.
    static func notServed(_ reason: String) -> Refusal { Refusal(.notServed, reason, .none) }

    static let openServedDirectory = Refusal(
        .openServedDirectory,
        "other users can reach this directory, and a client may send setuid programs. Run chmod 700 on it, or mount it with nosuid,nodev",
        .none)

    /// - Parameters:
    ///   - deed: what the command or the option does.
    ///   - option: what can be left out; nil for the command itself.
    package static func keyForbids(_ deed: String, isReadOnly: Bool = false, _ option: String? = nil)
        -> Refusal
    {
        Refusal(
            .keyForbids,
            "\(deed), but your key for that machine is \(isReadOnly ? "for reading only" : "append-only")",
            option.map { .without($0) } ?? .none)
    }
}

extension WayOut {
    /// Moves an entry of the target to a place beside it.
    static func movingOut(_ path: RelativePath) -> WayOut {
        .first("mv", .inTarget(path.bytes), .besideTarget([UInt8(ascii: ".")] + (path.fileName?.bytes ?? [])))
    }

    /// A restore into another directory.
    static func restoringBeside(_ path: [UInt8]) -> WayOut {
        var path = path[...]
        while path.count > 1, path.last == UInt8(ascii: "/") || path.suffix(2).elementsEqual("/.".utf8) {
            path.removeLast()
        }
        return restoring(to: Array(path) + ".restored".utf8)
    }

    static let restoringElsewhere = restoring(to: Array("restored".utf8))

    static func restoring(to path: [UInt8]) -> WayOut {
        .without("--to-source", "--in-place") + .adding("--to", path)
    }
}

extension RelativePath {
    /// A pattern of gitignore that matches this path alone.
    var pattern: [UInt8] {
        [UInt8(ascii: "/")]
            + bytes.flatMap { "*?[\\".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    }

    /// As typed, it may stand for several.
    var isPattern: Bool { bytes.contains(where: "*?[".utf8.contains) }
}
