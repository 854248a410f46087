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
                "the target's file system keeps no extended attributes, and this could be taken for the state of a target"
        )
    }

    static func otherTarget(_ path: RelativePath) -> Problem {
        Problem(
            path: path, code: .reserved,
            message:
                "it is another target, and is left as it is; move it out of this one, or delete it with --delete-targets"
        )
    }

    static func tooLarge(_ path: RelativePath) -> Problem {
        Problem(
            path: path, code: .unsupported,
            message:
                "\(Errno.fileTooLarge): the target's file system, or a limit of this process, takes no file of this size"
        )
    }

    static func tooLong(in directory: RelativePath) -> Problem {
        Problem(
            path: directory, code: .tooLong,
            message: "what has a path of more than \(RelativePath.longest) bytes in it is not mirrored")
    }

    /// - Parameter location: the former place of the content, below the target's root.
    static func lost(_ path: RelativePath, at location: RelativePath) -> Problem {
        Problem(
            path: path, code: .drift,
            message: "what it held is lost: "
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
            message: "what it held is lost: \(object) is not what its digest says")
    }

    static func edited(_ path: RelativePath, goesToHistory: Bool = false) -> Problem {
        Problem(
            path: path, code: .drift,
            message:
                "it was changed in the target since; it \(goesToHistory ? "goes to the history" : "stays")")
    }

    static func replaced(_ path: RelativePath) -> Problem {
        Problem(
            path: path, code: .drift,
            message: "another file has replaced it since; its content may differ")
    }

    static func changing(_ path: RelativePath) -> Problem {
        Problem(path: path, code: .changing, message: "it was still changing after three tries")
    }

    /// Between two looks, it became an entry of another type.
    static func retyped(_ path: RelativePath) -> Problem {
        Problem(path: path, code: .changing, message: "another type of entry took its name meanwhile")
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
}

extension SyncError {
    /// The documents of a tree were replaced while they were read.
    static func overtaken(_ target: [UInt8]) -> SyncError {
        SyncError(.pending, path: target, "an apply has changed it meanwhile; run the command once more")
    }

    private static let untrusted =
        "any user may have written this journal: its file system does not keep owners"

    static func untrustedState(_ path: [UInt8]) -> SyncError {
        SyncError(.pending, path: path, "\(untrusted), and root follows it only with recover --trust-state")
    }

    /// Whether the journal was ignored because any user may have written it.
    public var isOfTrust: Bool { message.hasPrefix(SyncError.untrusted) }

    static func pendingCommit(_ target: [UInt8]) -> SyncError {
        SyncError(
            .pending, path: target,
            "a commit was begun and not ended; run: fsync-lite recover \(escapedText(target))")
    }
}
