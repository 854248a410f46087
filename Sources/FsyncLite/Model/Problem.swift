import FileStorage
import FileSystem

/// A file or directory that could not be mirrored, with its path and cause. Nothing is skipped silently.
public struct Problem: Hashable, Sendable {
    /// The code in reports. The list is closed.
    public enum Code: String, Sendable, CaseIterable {
        /// The source's entry cannot be read.
        case unreadable
        /// The file changed during each attempt to copy it.
        case changing
        /// The target cannot store the entry, or a part of it.
        case unsupported
        /// The target has the entry, but not all of its attributes.
        case attribute
        /// The target's entry was changed after the last run. It is left unchanged, or its earlier content is lost.
        case drift
        /// The entry is another target, or has the name of a state. It is left out.
        case reserved
        /// The directory is mirrored, except entries whose paths are too long.
        case tooLong = "too_long"
    }

    /// Whether the entry is not mirrored at all, for a reason that may end.
    var isOfWholeEntry: Bool { ![.attribute, .drift, .reserved, .tooLong].contains(code) }

    static func reserved(_ path: RelativePath) -> Problem {
        Problem(
            path: path, code: .reserved,
            message:
                "it looks like the state of a target, and the target's file system has no extended attributes to mark it as a copy"
        )
    }

    static func otherTarget(_ path: RelativePath) -> Problem {
        Problem(
            path: path, code: .reserved,
            message:
                "it is another target, and is left unchanged; move it out of this one, or delete it with --delete-targets"
        )
    }

    static func tooLarge(_ path: RelativePath) -> Problem {
        Problem(
            path: path, code: .unsupported,
            message:
                "\(Errno.fileTooLarge): the target's file system, or a limit of this process, allows no file of this size"
        )
    }

    static func tooLong(in directory: RelativePath) -> Problem {
        Problem(
            path: directory, code: .tooLong,
            message: "files in it whose paths are longer than \(RelativePath.longest) bytes are not mirrored")
    }

    /// - Parameter location: the former place of the content, below the target's root.
    static func lost(_ path: RelativePath, at location: RelativePath) -> Problem {
        Problem(
            path: path, code: .drift,
            message: "its old content is lost: "
                + (location.isInState
                    ? "the history no longer has it" : "it was changed in the target since"))
    }

    static func purged(_ path: RelativePath) -> Problem {
        Problem(path: path, code: .drift, message: "its content was purged from the history")
    }

    /// - Parameter object: the file with the content that is not restored.
    static func damaged(_ path: RelativePath, at object: String) -> Problem {
        Problem(
            path: path, code: .drift,
            message: "its old content is lost: \(object) does not match its digest")
    }

    static func edited(_ path: RelativePath, isDisplaced: Bool = false) -> Problem {
        Problem(
            path: path, code: .drift,
            message:
                "it was changed in the target since; it is \(isDisplaced ? "moved to the history" : "left unchanged")"
        )
    }

    static func replaced(_ path: RelativePath) -> Problem {
        Problem(
            path: path, code: .drift,
            message: "another file has replaced it since; its content may differ")
    }

    static func changing(_ path: RelativePath) -> Problem {
        Problem(path: path, code: .changing, message: "it was still changing after three tries")
    }

    static func unreadable(_ path: RelativePath, _ errno: Errno) -> Problem {
        Problem(path: path, code: .unreadable, message: errno.description)
    }

    /// Between two looks, it became an entry of another type.
    static func retyped(_ path: RelativePath) -> Problem {
        Problem(path: path, code: .changing, message: "a file of another type took its name meanwhile")
    }

    public internal(set) var path: RelativePath
    public internal(set) var code: Code
    public internal(set) var message: String

    public init(path: RelativePath, code: Code, message: String) {
        self.path = path
        self.code = code
        self.message = message
    }
}

extension SyncError.Code {
    /// Work is left to do.
    public static let pending = SyncError.Code(rawValue: "pending")
    /// Another process is running.
    public static let locked = SyncError.Code(rawValue: "locked")
    /// A pattern matches nothing.
    public static let noMatch = SyncError.Code(rawValue: "no_match")
    /// A signal or a cancellation ended the run.
    public static let interrupted = SyncError.Code(rawValue: "interrupted")

    /// A code that another machine reports; `failed` for one that only this machine can report, and for an unknown one.
    init(received code: String) {
        let known: [SyncError.Code] = [
            .inputMissing, .pending, .refused, .locked, .invalidDocument, .usage, .noMatch,
        ]
        self = known.first { $0.rawValue == code } ?? .failed
    }
}

extension SyncError {
    /// The documents of a tree were replaced while they were read.
    static func changedMeanwhile(_ target: [UInt8]) -> SyncError {
        SyncError(.pending, path: target, "another run has changed it meanwhile; run the command again")
    }

    /// A reader would see parts of two trees.
    static func beingWritten(_ target: [UInt8]) -> SyncError {
        SyncError(.locked, path: target, "another fsync-lite is writing to this target; ask again")
    }

    private static let untrusted =
        "any user may have written this journal, because its file system does not store owners"

    static func untrustedState(_ path: [UInt8]) -> SyncError {
        SyncError(.pending, path: path, "\(untrusted). Root follows it only with recover --trust-state")
    }

    /// Whether the journal was ignored because any user may have written it.
    public var isOfTrust: Bool { message.hasPrefix(SyncError.untrusted) }

    static func pendingCommit(_ target: [UInt8]) -> SyncError {
        SyncError(
            .pending, path: target,
            "a commit was interrupted; run: fsync-lite recover \(escapedText(target))")
    }
}
