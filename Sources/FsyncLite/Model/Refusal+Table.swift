import FileStorage
import FileSystem

// The table of refusals: for each reason its text and its way out. `Guard` has the name and the exit code of each. One
// that is added needs a scene in `WaysOutTests`, in which the way out is tried.

// MARK: Sources

extension Refusal {
    static func emptySource(_ what: String) -> Refusal {
        Refusal(.emptySource, "\(what): is a disk missing?", .adding("--allow-empty-source"))
    }

    /// - Parameter most: the largest number of deletions that is refused in this run.
    static func manyDeletions(_ count: Int, of entries: Int, _ source: String, most: Int) -> Refusal {
        Refusal(
            .manyDeletions,
            "\(count) of the target's \(Amount.entries(entries))\(source) would be deleted",
            .adding("--max-delete", "\(most)"))
    }

    static func sourceLeftOut(_ title: String, _ path: [UInt8]) -> Refusal {
        Refusal(
            .missingSource,
            "\(title) (\(escapedText(path))) is no longer mirrored here: what the target has of it would be deleted",
            .adding("--change-source"))
    }

    static func otherSource(_ title: String, _ last: [UInt8], isElsewhere: Bool) -> Refusal {
        Refusal(
            .otherSource,
            "\(title) is another directory\(isElsewhere ? ", on another file system," : "") than last time "
                + "(\(escapedText(last)))", .adding("--change-source"))
    }

    static func weakSourceAmongOthers(_ title: String) -> Refusal {
        Refusal(
            .weakSourceAmongOthers,
            "the file system of \(title) keeps no change times or inodes, and those of others do; "
                + "mirror it to a target of its own", .none)
    }

    static func rottenSource(_ path: RelativePath) -> Refusal {
        Refusal(
            .rottenSource,
            "\(path) in the source is not what was recorded of it, although its size and modification time are: "
                + "it has rotted, or its time was put back; manifest verify --source tells the good copy",
            .adding("--trust-source"))
    }

    /// - Parameter how: one lies inside the other, in words.
    ///
    /// - Parameter way: what leaves the inner one out.
    static func overlap(_ how: String, _ way: WayOut = .none) -> Refusal { Refusal(.overlap, how, way) }

    /// A directory of the source where a disk was mounted last time.
    ///
    /// - Parameter isOther: another one is mounted there now, or else none.
    static func otherMount(_ path: RelativePath, isOther: Bool, lost: Int) -> Refusal {
        let how =
            isOther ? "shows another file system than last time" : "was mounted last time and is not now"
        return Refusal(
            isOther ? .otherSource : .missingSource,
            "\(path) in the source \(how): the target would lose \(Amount.entries(lost)) of it; is a disk missing?",
            .adding("--change-source"))
    }
}

// MARK: The target

extension Refusal {
    /// - Parameter adopted: what would become of it.
    static func foreignTarget(_ entries: Int, hasHistory: Bool, _ adopted: String?) -> Refusal {
        Refusal(
            .foreignTarget,
            "the target holds \(Amount.entries(entries)) and "
                + (hasHistory ? "its manifest is missing" : "was never written by fsync-lite")
                + (adopted.map { "; \($0)" } ?? ""), .adding("--adopt"))
    }

    static func unknownJobTarget(_ path: [UInt8], isThere: Bool) -> Refusal {
        Refusal(
            .unknownJobTarget,
            "the target \(LocalFile(bytes: path)) \(isThere ? "was never written by fsync-lite" : "does not exist"), "
                + "and a job does not begin one by itself: is a disk missing?", .adding("--create-target"))
    }

    static func otherFileSystem(_ path: [UInt8]) -> Refusal {
        Refusal(
            .otherFileSystem,
            "the target \(LocalFile(bytes: path)) is on another file system than last time: is a disk missing?",
            .adding("--change-target"))
    }

    static func missingTarget(_ path: [UInt8], lastApply: Timestamp) -> Refusal {
        Refusal(
            .missingTarget,
            "the target \(LocalFile(bytes: path)), which an apply of \(lastApply.localText) wrote, is not there, and its path "
                + "is on another file system: mount its disk. If a new target begins there, give --new-target",
            .adding("--new-target"))
    }

    static let noParent = Refusal(
        .noParent, "neither the target nor the directory that would hold it exists: is a disk missing?",
        .adding("--create-parents"))

    /// For a command that makes no directories.
    static func noParent(_ parent: LocalFile) -> Refusal {
        Refusal(.noParent, noParent.reason, .first("mkdir", "-p", .text(parent.bytes)))
    }

    static func danglingTarget(_ file: LocalFile, to missing: LocalFile) -> Refusal {
        Refusal(
            .danglingTarget,
            "the target \(file) is a symlink to \(missing), which does not exist: is a disk missing? If not, make that directory",
            .first("mkdir", "-p", .text(missing.bytes)))
    }

    static func insideState(_ path: [UInt8]) -> Refusal {
        Refusal(
            .insideState,
            "\(LocalFile(bytes: path)) lies in the state of a target; give another directory",
            beside(stateIn: path))
    }

    static func besideTarget(_ path: RelativePath) -> Refusal {
        Refusal(
            .insideState,
            "\(path) would be beside a target as its state; give another directory", .restoringElsewhere)
    }

    static func insideTarget(_ path: [UInt8], _ outer: [UInt8]) -> Refusal {
        Refusal(
            .insideTarget,
            "\(LocalFile(bytes: path)) lies in the target \(LocalFile(bytes: outer)); give another directory",
            .target(outer + ".mirror".utf8))
    }

    static func holdsTarget(_ path: RelativePath, isState: Bool) -> Refusal {
        Refusal(
            .insideTarget,
            "\(path) there is \(isState ? "the state of a target" : "a target"); give another directory",
            .restoringElsewhere)
    }

    /// A directory beside the target whose state this path lies in.
    private static func beside(stateIn path: [UInt8]) -> WayOut {
        let slash = UInt8(ascii: "/")
        let names = path.split(separator: slash, omittingEmptySubsequences: false)
        guard let state = names.firstIndex(where: FileName.isReservedWhenFolded), state > 0 else {
            return .none
        }
        return .target(Array(names[..<state].joined(separator: [slash])) + ".mirror".utf8)
    }

    /// - Parameter state: the path of the state of a target that has another name now.
    static func renamedTarget(_ state: [UInt8]) -> Refusal {
        Refusal(
            .renamedTarget,
            "the target was renamed after an exchange, and its state is \(escapedText(state)); "
                + "rename that likewise, or the target back",
            .first("mv", .text(state), .stateBesideTarget))
    }

    static func stateNameTaken(_ path: [UInt8], by owner: UInt32) -> Refusal {
        Refusal(
            .stateNameTaken,
            "\(escapedText(path)) belongs to user \(owner) and has the name that the state gets; move it away",
            .first("mv", .text(path), .text(path + ".moved".utf8)))
    }

    /// - Parameters:
    ///   - path: of the object that cannot be moved, in words; nil if the error has it.
    ///   - directory: where it would go.
    static func domain(
        _ path: String?, _ object: WayOut.Word, _ demand: Domain, _ found: Domain, directory: String
    ) -> Refusal {
        let project = demand.handsDownProject ? demand.project : nil
        return Refusal(
            .projectOrEncryption,
            (path.map { "\($0): " } ?? "") + Domain.reason(demand, found, directory: directory),
            project.map { .first("chattr", "-p", .text(Array("\($0)".utf8)), object) } ?? .none)
    }
}

// MARK: The state of the target

extension Refusal {
    /// - Parameter reason: what is there in place of a mark; the claim follows.
    static func unmarkedState(_ reason: String, of root: [UInt8]) -> Refusal {
        Refusal(
            .unmarkedState, "\(reason); if it is yours: fsync-lite recover --claim \(escapedText(root))",
            .first("fsync-lite", "recover", "--claim", .targetName))
    }

    static func stateOfOtherDirectory(_ state: [UInt8]) -> Refusal {
        Refusal(
            .stateOfOtherDirectory,
            "this is the state of another directory, which stood where the target is; put that one back, or move this away",
            .movingAway(state))
    }

    static func twoStates(_ beside: [UInt8], _ inside: [UInt8]) -> Refusal {
        Refusal(
            .twoStates,
            "this is the target's state, and so is \(escapedText(inside)); move away the one that is not",
            .movingAway(beside))
    }

    /// - Parameter wanted: what should be there.
    static func oddStateEntry(_ path: [UInt8], wanted: String) -> Refusal {
        Refusal(.oddStateEntry, "\(wanted); move this away", .movingAway(path))
    }

    static func mountedState(_ path: [UInt8]) -> Refusal {
        Refusal(.mountedState, "something is mounted here; unmount it", .first("umount", .text(path)))
    }

    static func otherOwner(_ owner: UInt32) -> Refusal {
        Refusal(
            .otherOwner,
            "it belongs to user \(owner), not to \(Account.effectiveUser); run as its owner, or move it away if that user put it there",
            .asUser(owner))
    }

    static func writableState(_ path: [UInt8]) -> Refusal {
        Refusal(
            .writableState, "others may write to it; take that away: chmod go-w",
            .first("chmod", "go-w", .text(path)))
    }

    static let untrustedState = Refusal(
        .untrustedState,
        "any user may have written this: its file system does not keep owners, and root commits it only with --trust-state",
        .adding("--trust-state"))
}

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
            .first(
                "mv", .inTarget(path.bytes), .besideTarget([UInt8(ascii: ".")] + (path.fileName?.bytes ?? []))
            ))
    }

    static func targetInExchange(_ path: RelativePath) -> Refusal {
        Refusal(
            .targetInExchange,
            "\(path) is another target, whose state an exchange would copy; move it out, or leave --exchange out",
            .without("--exchange"))
    }

    static func nameCollision(_ first: RelativePath, _ second: RelativePath) -> Refusal {
        Refusal(
            .nameCollision,
            "\(first) and \(second) are one name in the target, which does not tell case or Unicode forms apart",
            .adding("--exclude", Refusal.pattern(of: second)))
    }

    /// A pattern of gitignore that matches this path alone.
    private static func pattern(of path: RelativePath) -> [UInt8] {
        [UInt8(ascii: "/")]
            + path.bytes.flatMap { "*?[\\".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    }

    static func excludedInTheWay(_ path: RelativePath) -> Refusal {
        Refusal(
            .excludedInTheWay,
            "\(path) in the target is excluded, or holds what is, and something else of the source would take its place",
            .adding("--delete-excluded"))
    }

    static func undeletedInTheWay(_ path: RelativePath) -> Refusal {
        Refusal(
            .undeletedInTheWay,
            "\(path) in the target holds entries that --no-delete keeps, and something else of the source would "
                + "take its place; leave --no-delete out, or that path with --exclude",
            .without("--no-delete"))
    }

    static func locked(_ path: RelativePath, _ status: FileStatus) -> Refusal {
        let flag = status.isImmutable ? ("immutable", "i") : ("append-only", "a")
        let name = path.isRoot ? "the target's root" : "\(path) in the target"
        return Refusal(
            .locked, "\(name) is \(flag.0); chattr -\(flag.1) it",
            .first("chattr", .text(Array("-\(flag.1)".utf8)), .inTarget(path.bytes)))
    }
}

// MARK: The file system

extension Refusal {
    static func weakFileSystem(_ capabilities: FileSystemCapabilities) -> Refusal {
        Refusal(
            .weakFileSystem,
            "the target's file system, \(capabilities.name), cannot keep the promise of all or nothing; it lacks "
                + capabilities.lacks.joined(separator: ", "), .adding("--weak-commit"))
    }

    static let readOnlyFileSystem = Refusal(
        .readOnlyFileSystem, "the target's file system is mounted read-only",
        .first("mount", "-o", "remount,rw", .mountPoint))

    /// - Parameter held: bytes that the target's history holds.
    static func noSpace(_ needed: ByteCount, free: ByteCount, held: ByteCount) -> Refusal {
        let text = Amount.bytes(needed, over: free)
        var refusal = Refusal(
            .noSpace, "\(text.0) are needed and \(text.1) are free in the target\(history(held))",
            prune(held))
        refusal.bytes = Space(needed: needed, free: free)
        return refusal
    }

    /// - Parameter held: bytes that the target's history holds.
    static func noInodes(_ needed: Int64, free: Int64, held: ByteCount) -> Refusal {
        Refusal(
            .noInodes, "\(needed) inodes are needed and \(free) are free in the target\(history(held))",
            prune(held))
    }

    private static func history(_ held: ByteCount) -> String {
        guard held > 0 else { return "" }
        return "; its history holds \(Amount.bytes(held)), which snapshot prune --keep-last 0 frees"
    }

    private static func prune(_ held: ByteCount) -> WayOut {
        held > 0 ? .first("fsync-lite", "snapshot", "prune", "--keep-last", "0", .targetName) : .none
    }

    static let spaceForPrepared = Refusal(
        .spaceForPrepared,
        "there is room only if snapshots go, and none goes before a commit: prune some, or apply at once",
        .without("--prepare"))

    static func cannotClone(_ error: Errno) -> Refusal {
        Refusal(
            .cannotClone, "this file system cannot clone (\(error)); leave --reflink out",
            .without("--reflink"))
    }

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
                ? "\(file) is not the directory that was mirrored: is a disk missing? --to \(file) uses it"
                : "the source, \(file), is not there: is a disk missing? --to \(file) makes it",
            .without("--to-source") + .adding("--to", path))
    }

    static func destinationIsTarget(_ path: [UInt8]) -> Refusal {
        Refusal(
            .destinationIsTarget, "\(LocalFile(bytes: path)) is a target itself; give another directory",
            .restoringBeside(path))
    }

    static func unfinishedRestore(_ path: [UInt8]) -> Refusal {
        Refusal(
            .unfinishedRestore,
            "\(LocalFile(bytes: path)) has what another restore left that was cut short; run that again to end it",
            .restoringBeside(path))
    }

    static func occupiedDestination(_ path: [UInt8]) -> Refusal {
        Refusal(
            .occupiedDestination,
            "\(LocalFile(bytes: path)) holds other entries already, and a whole tree is copied to an empty "
                + "directory only: name the paths to restore, or give --to with another directory",
            .restoringBeside(path))
    }

    static func linkToOtherFileSystem(_ path: [UInt8]) -> Refusal {
        Refusal(
            .linkToOtherFileSystem,
            "\(LocalFile(bytes: path)) is on another file system, where nothing can be linked; leave --link out",
            .without("--link"))
    }

    static func otherKind(_ path: RelativePath, _ type: FileType) -> Refusal {
        Refusal(
            .otherKind,
            "\(path) is a \(type.documentName) there, and another kind of entry in the snapshot; move it away",
            .first("mv", .inTarget(path.bytes), .inTarget(path.bytes + ".moved".utf8)))
    }

    static func wouldOverwrite(_ path: RelativePath, of modified: Timestamp) -> Refusal {
        Refusal(
            .wouldOverwrite, "\(path) is there, of \(modified.localText), and would be overwritten",
            .adding("--overwrite"))
    }

    static func moreWouldBeOverwritten(_ count: Int) -> Refusal {
        Refusal(.wouldOverwrite, "and \(count) more would be overwritten", .adding("--overwrite"))
    }
}

extension Refusal {
    static func noSingleSource(_ reason: String, _ advice: String) -> Refusal {
        Refusal(
            .noSingleSource, "\(reason); \(advice)",
            .without("--to-source") + .adding("--to", "restored"))
    }

    /// - Parameter kept: how many applies can be taken back.
    static func fewerSnapshots(_ kept: Int, _ reason: String) -> Refusal {
        Refusal(.fewerSnapshots, reason, kept > 0 ? .adding("--steps", "\(kept)") : .none)
    }
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

extension WayOut {
    /// A restore into another directory.
    fileprivate static func restoringBeside(_ path: [UInt8]) -> WayOut {
        .adding("--to", path + ".restored".utf8)
    }

    fileprivate static let restoringElsewhere = WayOut.adding("--to", "restored")
}
