import FileStorage
import FsyncLite

/// The JSON document of a command or a job that an error ended before it had a result.
enum ErrorDocument {
    /// - Parameter rest: adds other fields that are known.
    static func write(
        _ error: any Error, _ code: ExitCode, job: String? = nil, to console: inout Console,
        adding rest: (inout JSONText) -> Void = { _ in }
    ) throws {
        var document = DocumentWriter(format: "fsync-lite-error")
        if let job { document.text.field("job", job) }
        document.text.field("exit_code", code.rawValue)
        switch error {
        case let error as UsageError:
            document.text.field("code", SyncError.Code.usage.rawValue)
            document.text.field("message", error.message)
            document.text.field("hint", error.hint)
        case let error as SyncError:
            document.text.field("code", error.code.rawValue)
            if let refusal = error.refusal { document.text.field("case", refusal.kind.rawValue) }
            if let path = error.path { document.text.field("path", "path_base64", path[...]) }
            document.text.field("message", error.message)
        default:
            document.text.field("code", SyncError.Code.failed.rawValue)
            document.text.field("message", "\(error)")
        }
        rest(&document.text)
        try document.end(to: &console)
    }
}
