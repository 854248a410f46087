import FileStorage
import Foundation
import TestSupport

extension SpawnedProcess {
    /// A process that runs `FileStorageChild`. Its exit code is 0 if it did what it should.
    ///
    /// - Parameter action: see `FileStorageChild`.
    convenience init(
        child action: String, _ directory: LocalFile, _ environment: [String: String] = [:]
    ) throws {
        try self.init(
            [(BuiltCommand.directory() + "FileStorageChild").path, action, directory.path],
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            errors: STDERR_FILENO)
    }
}
