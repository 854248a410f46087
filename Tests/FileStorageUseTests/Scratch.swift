import FileStorage
import Foundation

/// A directory for one test. It is deleted when the object is released.
final class Scratch: Sendable {
    let directory: LocalFile

    init() throws {
        directory = LocalFile.temporaryDirectory + "file-storage-use-\(UUID().uuidString)"
        try directory.makeDirectory()
    }

    deinit {
        // An undeletable file may remain. The test does not fail because of it.
        try? directory.delete(recursive: true)
    }
}
