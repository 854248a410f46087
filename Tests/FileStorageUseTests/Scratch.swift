import FileStorage
import Foundation

/// A directory of one test, deleted when the object goes.
final class Scratch: Sendable {
    let directory: LocalFile

    init() throws {
        directory = LocalFile.temporaryDirectory + "file-storage-use-\(UUID().uuidString)"
        try directory.makeDirectory()
    }

    deinit {
        // What a test made undeletable stays behind; that is no reason for it to fail.
        try? directory.delete(recursive: true)
    }
}
