import FileStorage
import FileSystem

extension SyncError {
    /// Converts any error.
    package init(wrapping error: any Error) {
        switch error {
        case let error as SyncError: self = error
        case let error as SystemError: self.init(error)
        default: self.init(.failed, "\(error)")
        }
    }
}
