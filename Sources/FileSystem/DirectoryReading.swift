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

/// The reading of a directory that another thread may do before it is asked for: whoever comes first does it.
package final class DirectoryReading: Sendable {
    private let parent: Directory
    private let name: FileName
    private let isTaken = Atomic(false)
    private let result = Mutex<Result<OpenedDirectory, SystemError>?>(nil)
    private let ended = Semaphore()

    package init(_ name: FileName, in parent: Directory) {
        (self.name, self.parent) = (name, parent)
    }

    /// Reads it now, unless that was begun already.
    package func readAhead() {
        guard take() else { return }
        let read = Result { () throws(SystemError) in try OpenedDirectory(name, in: parent) }
        result.withLock { $0 = read }
        ended.signal()
    }

    /// Waits for what another thread has begun. To be called once.
    package func value() throws(SystemError) -> OpenedDirectory {
        guard !take() else { return try OpenedDirectory(name, in: parent) }
        ended.wait()
        guard let read = result.withLock(\.self) else { return try OpenedDirectory(name, in: parent) }
        return try read.get()
    }

    private func take() -> Bool {
        isTaken.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
    }
}
