import FileStorage
import FileSystem

// The first part of the table of refusals: for each reason its text and its way out. `Guard` has the name and the exit
// code of each. One that is added needs a scene in `WaysOutTests`, in which the way out is tried.

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

    /// - Parameter count: of all snapshots.
    static func manyRemovals(_ removed: RemovedSnapshots, of count: Int, _ rules: RetentionRules) -> Refusal {
        Refusal(
            .manyRemovals,
            "the rules of retention are new (\(escapedText("\(rules.policy)".utf8)), \(rules.origin.rawValue)), and would "
                + "remove \(removed) of \(count)", .adding("--allow-removal"))
    }

    static func tooManySources(_ most: Int) -> Refusal {
        Refusal(
            .tooManySources, "there are more sources than \(most); mirror some of them by another job", .none)
    }

    static func tooManyEntries(_ count: Int) -> Refusal {
        Refusal(
            .tooManyEntries,
            "the source has more new entries than half of this machine's memory holds: \(count); "
                + "mirror it in parts, by sources of their own", .none)
    }

    /// - Parameter location: of the setting that disables it.
    package static func disabledJob(_ location: String) -> Refusal {
        Refusal(.disabledJob, "the job is disabled; to run it, take that out: \(location)", .none)
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

    /// - Parameter purpose: what only a target is for.
    static func noTarget(_ purpose: String) -> Refusal { Refusal(.noTarget, purpose, .none) }

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
            "what is new cannot be given the project \(project) that its directory hands down: \(error)",
            .none)
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

    /// For a client, whose key may not claim a state.
    static func unmarkedState(servedAs root: [UInt8]) -> Refusal {
        Refusal(
            .unmarkedState,
            "its state has no mark; on that machine, as its owner: fsync-lite recover --claim \(escapedText(root))",
            .none)
    }

    static let noMark = Refusal(
        .noMark, "its file system keeps no mark; move the target out of the tree of another one", .none)

    /// - Parameter copy: the path of the directory that is there now, if it may be a copy of the other one.
    static func stateOfOtherDirectory(_ state: [UInt8], copy: [UInt8]?) -> Refusal {
        let reason =
            "this is the state of another directory, which stood where the target is; put that one back, or"
        guard let copy else {
            return Refusal(.stateOfOtherDirectory, "\(reason) move this away", .movingAway(state))
        }
        return Refusal(
            .stateOfOtherDirectory, "\(reason), if the target is a copy of it, move this into the copy",
            .first("mv", .text(state), .text(copy + "/\(FileName.state)".utf8)))
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

    static func otherOwner(_ owner: UInt32, _ path: [UInt8]) -> Refusal {
        let back =
            Account.isRoot ? "; if you gave it away, take it back: chown -R 0 \(escapedText(path))" : ""
        return Refusal(
            .otherOwner,
            "it belongs to user \(owner), not to \(Account.effectiveUser); run as its owner, or move it away if that user put it there\(back)",
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

// MARK: Where snapshots are mounted

extension Refusal {
    static func missingMountPoint(_ place: [UInt8]) -> Refusal {
        Refusal(.missingMountPoint, "there is no such directory", .first("mkdir", "-p", .text(place)))
    }

    static func occupiedMountPoint(_ place: [UInt8], isDirectory: Bool) -> Refusal {
        let reason =
            isDirectory ? "it is not empty, and the mount would hide its entries" : "it is no directory"
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
        let reason =
            isDead
            ? "another program mounted a file system there, and its server is dead. Unmount it"
            : "something is mounted there already. Unmount it, or give another directory"
        let way: WayOut =
            Account.isRoot ? .first("umount", .text(place)) : .first("fusermount3", "-u", .text(place))
        return Refusal(.mountedMountPoint, reason, way)
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
