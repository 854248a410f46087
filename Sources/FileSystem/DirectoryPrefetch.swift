import Synchronization

/// A directory that is open and has been read.
package struct OpenedDirectory: Sendable {
    package let directory: Directory
    package let status: FileStatus
    package let listing: DirectoryListing

    package init(_ name: FileName, in parent: Directory) throws(SystemError) {
        directory = try parent.directory(name)
        status = try directory.status()
        listing = try DirectoryListing(of: directory, isFresh: true)
    }
}

/// Reads a directory ahead of time, on another thread. The first thread to start reads it; `readAhead` then returns,
/// and `value` waits.
package final class DirectoryPrefetch: Sendable {
    private enum State {
        case unread
        case read(Result<OpenedDirectory, SystemError>)
        case handedOver
    }

    private let parent: Directory
    private let name: FileName
    private let state = Mutex(State.unread)

    package init(_ name: FileName, in parent: Directory) {
        (self.name, self.parent) = (name, parent)
    }

    /// Reads the directory unless a thread has started already.
    package func readAhead() {
        state.withLockIfAvailable { state in
            guard case .unread = state else { return }
            state = .read(Result { () throws(SystemError) in try OpenedDirectory(name, in: parent) })
        }
    }

    /// The directory, read now if it was not before. Must be called only once.
    package func value() throws(SystemError) -> OpenedDirectory {
        try state.withLock { (state) throws(SystemError) in
            defer { state = .handedOver }
            if case .read(let result) = state { return try result.get() }
            return try OpenedDirectory(name, in: parent)
        }
    }
}
