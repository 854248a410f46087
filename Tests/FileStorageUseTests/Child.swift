import FileStorage
import Foundation
import Glibc

/// A process that runs `FileStorageChild`.
struct Child {
    private let process = Process()

    /// - Parameter action: see `FileStorageChild`.
    init(_ action: String, _ directory: LocalFile, _ environment: [String: String] = [:]) throws {
        let own = LocalFile(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.executableURL = (own.parent + "FileStorageChild").url
        process.arguments = [action, directory.path]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    func kill() { Glibc.kill(process.processIdentifier, SIGKILL) }

    /// - Returns: the status; 0 if it did what it should.
    @discardableResult
    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    static func run(
        _ action: String, _ directory: LocalFile, _ environment: [String: String] = [:]
    ) throws -> Int32 {
        try Child(action, directory, environment).wait()
    }
}
