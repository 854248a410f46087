import FileStorage
import FileSystem

// The first part of the table of refusals: for each reason its text and its way out. `Guard` has the name and the exit
// code of each. One that is added needs a scene in `WaysOutTests`, in which the way out is tried.

// MARK: Sources

extension Refusal {
    static func emptySource(_ what: String) -> Refusal {
        Refusal(.emptySource, "\(what). Is a disk missing?", .adding("--allow-empty-source"))
    }

    /// - Parameters:
    ///   - limit: the one that was given, for people; nil for that of all runs.
    ///   - most: the largest number of deletions that is refused in this run.
    static func manyDeletions(
        _ count: Int, of entries: Int, _ source: String, limit: String?, most: Int
    ) -> Refusal {
        Refusal(
            .manyDeletions,
            "\(count) of the target's \(Amount.entries(entries))\(source) would be deleted"
                + (limit.map { ", and the limit is \($0)" } ?? ""),
            .adding("--max-delete", "\(most)"))
    }

    /// - Parameter count: of all snapshots.
    static func manyRemovals(_ removed: RemovedSnapshots, of count: Int, _ rules: RetentionRules) -> Refusal {
        Refusal(
            .manyRemovals,
            "the rules of retention are new (\(escapedText("\(rules.policy)".utf8)), \(rules.origin.rawValue)), and would "
                + "remove \(removed) of \(count)", .adding("--allow-removal"))
    }

    static func tooManySources(_ most: Int) -> Refusal {
        Refusal(
            .tooManySources, "there are more than \(most) sources; mirror some with another job",
            .none)
    }

    static func tooManyEntries(_ count: Int) -> Refusal {
        Refusal(
            .tooManyEntries,
            "the source has \(count) new files and directories, and a list of them would fill more than half of this machine's memory. Mirror it in parts, with a job for each",
            .none)
    }

    /// - Parameter location: of the setting that disables it.
    package static func disabledJob(_ location: String) -> Refusal {
        Refusal(.disabledJob, "the job is disabled. To run it, remove this setting: \(location)", .none)
    }

    static func sourceLeftOut(_ title: String, _ path: [UInt8]) -> Refusal {
        Refusal(
            .missingSource,
            "\(title) (\(escapedText(path))) is no longer mirrored here, so the target's copy of it would be deleted",
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
            "the file system of \(title) has no lasting change times or inode numbers, unlike those of the other sources. Mirror it to a target of its own",
            .none)
    }

    /// - Parameter copy: its path in the target. A directory above may have been renamed.
    static func rottenSource(_ path: RelativePath, copy: RelativePath) -> Refusal {
        // Until a run renames the directory, the snapshot and the manifest have the file at the path of its copy.
        let isRenamed = copy != path
        let place = isRenamed ? ". Its copy in the target is \(copy)" : ""
        return Refusal(
            .rottenSource,
            "the content of \(path) changed in the source, but its size and time did not. The disk damaged it, or a tool restored its time\(place)",
            .adding("--trust-source"),
            safeWay: isRenamed
                ? "to read the copies: fsync-lite manifest verify --digest TARGET TARGET. If a copy is good, put it into the source with cp -p"
                : nil)
    }

    /// - Parameter how: one lies inside the other, in words.
    ///
    /// - Parameter way: what leaves the inner one out.
    static func overlap(_ how: String, _ way: WayOut = .none) -> Refusal { Refusal(.overlap, how, way) }

    /// A directory of the source on which a disk was mounted last time.
    ///
    /// - Parameter isOther: another one is mounted there now, or else none.
    static func otherMount(_ path: RelativePath, isOther: Bool, lost: Int) -> Refusal {
        let how =
            isOther ? "shows another file system than last time" : "was mounted last time and is not now"
        return Refusal(
            isOther ? .otherSource : .missingSource,
            "\(path) in the source \(how). The target would lose \(Amount.entries(lost)) of it. Is a disk missing?",
            .adding("--change-source"))
    }
}

// MARK: The target

extension Refusal {
    /// - Parameter adopted: what would become of it.
    static func foreignTarget(_ entries: Int, hasHistory: Bool, _ adopted: String?) -> Refusal {
        Refusal(
            .foreignTarget,
            "the target has \(Amount.entries(entries)), and "
                + (hasHistory ? "its manifest is missing" : "fsync-lite has never written to it")
                + (adopted.map { "; \($0)" } ?? ""), .adding("--adopt"))
    }

    static func unknownJobTarget(_ path: [UInt8], isThere: Bool) -> Refusal {
        Refusal(
            .unknownJobTarget,
            "the target \(LocalFile(bytes: path)) \(isThere ? "was never written by fsync-lite" : "does not exist"). Is its disk mounted? For the first run of this job, give --create-target",
            .adding("--create-target"))
    }

    static func otherFileSystem(_ path: [UInt8]) -> Refusal {
        Refusal(
            .otherFileSystem,
            "the target \(LocalFile(bytes: path)) is on another file system than last time. Is a disk missing?",
            .adding("--change-target"))
    }

    /// - Parameters:
    ///   - isThere: another target has its path.
    ///   - isOfJob: a job has this target.
    static func missingTarget(
        _ path: [UInt8], lastApply: Timestamp, isThere: Bool, isOfJob: Bool
    ) -> Refusal {
        let option = isOfJob ? "--create-target" : "--new-target"
        return Refusal(
            .missingTarget,
            "the target \(LocalFile(bytes: path)), which the run of \(lastApply.localText) wrote, "
                + (isThere ? "is another one now" : "does not exist")
                + ", and its path is on another file system. Mount its disk. To begin a new target there, give \(option)",
            .adding(option))
    }

    static let noParent = Refusal(
        .noParent, "the target and the directory above it do not exist. Is a disk missing?",
        .adding("--create-parents"))

    /// For a command that makes no directories.
    static func noParent(_ parent: LocalFile) -> Refusal {
        Refusal(.noParent, noParent.reason, .first("mkdir", "-p", .text(parent.bytes)))
    }

    /// - Parameter purpose: what only a target is for.
    static func noTarget(_ purpose: String) -> Refusal { Refusal(.noTarget, purpose, .none) }

    static func danglingTarget(_ file: LocalFile, to missing: LocalFile) -> Refusal {
        Refusal(
            .danglingTarget,
            "the target \(file) is a symlink to \(missing), which does not exist. Is a disk missing? If not, make that directory",
            .first("mkdir", "-p", .text(missing.bytes)))
    }

    static func insideState(_ path: [UInt8]) -> Refusal {
        Refusal(
            .insideState,
            "\(LocalFile(bytes: path)) is inside the state of a target; give another directory",
            beside(stateIn: path))
    }

    static func besideTarget(_ path: RelativePath) -> Refusal {
        Refusal(
            .insideState, "\(path) is reserved for the state of a target beside it; give another directory",
            .restoringElsewhere)
    }

    static func insideTarget(_ path: [UInt8], _ outer: [UInt8]) -> Refusal {
        Refusal(
            .insideTarget,
            "\(LocalFile(bytes: path)) is inside the target \(LocalFile(bytes: outer)); give another directory",
            .target(outer + ".mirror".utf8))
    }

    static func holdsTarget(_ path: RelativePath, isState: Bool) -> Refusal {
        Refusal(
            .insideTarget,
            "\(path) in the destination is \(isState ? "the state of a target" : "a target"); give another directory",
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
            "the target was renamed after an exchange, and its state \(escapedText(state)) was not. Rename the state, too, or give the target its old name again",
            .first("mv", .text(state), .stateBesideTarget))
    }

    static func stateNameTaken(_ path: [UInt8], by owner: UInt32) -> Refusal {
        Refusal(
            .stateNameTaken,
            "\(escapedText(path)) belongs to user \(owner) and has the name that the target's state needs; move it away",
            .movingAway(path))
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

    static func project(_ project: UInt32, _ error: Errno) -> Refusal {
        Refusal(
            .projectOrEncryption,
            "new files cannot get the project \(project), which their directory demands: \(error)",
            .none)
    }
}

// MARK: The state of the target

extension Refusal {
    /// - Parameter reason: what is there in place of a mark; the claim follows.
    static func unmarkedState(_ reason: String, of root: [UInt8]) -> Refusal {
        Refusal(
            .unmarkedState, "\(reason). If it is yours: fsync-lite recover --claim \(escapedText(root))",
            .first("fsync-lite", "recover", "--claim", .targetName(else: root)))
    }

    /// For a client, whose key may not claim a state.
    static func unmarkedState(servedAs root: [UInt8]) -> Refusal {
        Refusal(
            .unmarkedState,
            "its state has no mark. On that machine, as its owner: fsync-lite recover --claim \(escapedText(root))",
            .none)
    }

    static let noMark = Refusal(
        .noMark,
        "it is in another target, and its file system cannot mark it as a target. Move it out", .none)

    /// - Parameter copy: the path of the directory that is there now, if it may be a copy of the other one.
    static func stateOfOtherDirectory(_ state: [UInt8], copy: [UInt8]?) -> Refusal {
        let reason =
            "this is the state of another directory, which was here before the target. Put that one back, or"
        guard let copy else {
            return Refusal(.stateOfOtherDirectory, "\(reason) move this away", .movingAway(state))
        }
        return Refusal(
            .stateOfOtherDirectory, "\(reason), if the target is a copy of it, move this state into the copy",
            .first("mv", .text(state), .text(copy + "/\(FileName.state)".utf8)))
    }

    static func twoStates(_ beside: [UInt8], _ inside: [UInt8]) -> Refusal {
        Refusal(
            .twoStates,
            "this is the target's state, and so is \(escapedText(inside)); move the wrong one away",
            .movingAway(beside))
    }

    /// - Parameter wanted: what should be there.
    static func oddStateEntry(_ path: [UInt8], wanted: String) -> Refusal {
        Refusal(.oddStateEntry, "\(wanted); move this away", .movingAway(path))
    }

    static func mountedState(_ path: [UInt8]) -> Refusal {
        Refusal(.mountedState, "something is mounted here; unmount it", .first("umount", .text(path)))
    }

    static func otherOwner(_ owner: UInt32, _ path: [UInt8]) -> Refusal {
        let back =
            Account.isRoot ? ". If you gave it away, take it back: chown -R 0 \(escapedText(path))" : ""
        return Refusal(
            .otherOwner,
            "it belongs to user \(owner), not to \(Account.effectiveUser). Run as its owner, or move it away if that user put it there\(back)",
            .asUser(owner))
    }

    static func writableState(_ path: [UInt8]) -> Refusal {
        Refusal(
            .writableState, "other users may write to it; forbid that: chmod go-w",
            .first("chmod", "go-w", .text(path)))
    }

    static let untrustedState = Refusal(
        .untrustedState,
        "any user may have written this, because its file system does not store owners. Root commits it only with --trust-state",
        .adding("--trust-state"))
}

// MARK: The place of a mount

extension Refusal {
    static func missingMountPoint(_ place: [UInt8]) -> Refusal {
        Refusal(.missingMountPoint, "there is no such directory", .first("mkdir", "-p", .text(place)))
    }

    static func occupiedMountPoint(_ place: [UInt8], isDirectory: Bool) -> Refusal {
        let reason =
            isDirectory ? "it is not empty, and the mount would hide its files" : "it is no directory"
        return Refusal(.occupiedMountPoint, "\(reason). Give an empty directory", mounting(beside: place))
    }

    static func mountPointInTarget(_ target: [UInt8]) -> Refusal {
        Refusal(
            .mountPointInTarget, "it lies in the target. Give a directory outside of it",
            mounting(beside: target))
    }

    private static func mounting(beside path: [UInt8]) -> WayOut {
        let place = path + ".snapshots".utf8
        return .first("mkdir", "-p", .text(place)) + .argument("DIR", place)
    }

    /// - Parameter isDead: the server has ended without unmounting it.
    static func mountedMountPoint(_ place: [UInt8], isDead: Bool) -> Refusal {
        guard isDead else {
            return Refusal(
                .mountedMountPoint, "something is mounted there already. Give another directory",
                mounting(beside: place))
        }
        return Refusal(
            .mountedMountPoint,
            "another program mounted a file system there, and its server is dead. Unmount it",
            Account.isRoot ? .first("umount", .text(place)) : .first("fusermount3", "-u", .text(place)))
    }

    static let noFuse = Refusal(
        .noFuse,
        "there is no /dev/fuse, so the kernel's module is not loaded. A container needs --device /dev/fuse --cap-add SYS_ADMIN",
        .first("modprobe", "fuse"))

    static func mountForbidden(_ reason: String) -> Refusal {
        Refusal(.mountForbidden, reason, Account.isRoot ? .none : .asUser(0))
    }

    static func othersForbidden(_ settings: LocalFile) -> Refusal {
        Refusal(
            .othersForbidden,
            "--allow-other is for root, or needs a line user_allow_other in \(settings). Root can add it",
            .without("--allow-other"))
    }
}
