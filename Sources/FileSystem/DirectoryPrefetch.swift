import Synchronization

/// A directory, opened and read.
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

/// The reading of a directory that another thread may do before it is asked for: whoever comes first does it, and the
/// other waits or goes on.
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

    /// Reads it now, unless that was begun already.
    package func readAhead() {
        state.withLockIfAvailable { state in
            guard case .unread = state else { return }
            state = .read(Result { () throws(SystemError) in try OpenedDirectory(name, in: parent) })
        }
    }

    /// The directory, read now if it was not before. To be called once.
    package func value() throws(SystemError) -> OpenedDirectory {
        try state.withLock { (state) throws(SystemError) in
            defer { state = .handedOver }
            if case .read(let result) = state { return try result.get() }
            return try OpenedDirectory(name, in: parent)
        }
    }
}
