import FileSystem
import Foundation
import FsyncLite
import Glibc
import TestSupport

/// A target of which only the documents matter.
struct Desk: Sendable {
    static let transaction = "20261121T090000.123456Z-3f2a"

    let path: String
    let root: Directory
    let state: StateDirectory

    /// Makes it in an existing directory, or opens an existing one.
    init(_ path: String) throws {
        self.path = path
        let state = "\(path)/.fsync-lite"
        for directory in [
            path, state, "\(state)/stage", "\(state)/stage/\(Desk.transaction)", "\(state)/history",
            "\(state)/history/\(Desk.transaction)",
        ] {
            guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
                throw TreeError("mkdir", directory)
            }
        }
        root = try Directory.open(path: Array(path.utf8))
        try Directory.open(path: Array(state.utf8)).markAsState()
        guard let state = try StateDirectory(of: root) else { throw TreeError("open", state) }
        self.state = state
    }

    /// The desk for documents that are written again. The document on this one remains.
    func second() throws -> Desk { try Desk("\(path)/again") }

    func path(_ kind: DocumentKind) -> String { "\(path)/\(kind.place)" }

    func put(_ bytes: [UInt8], _ kind: DocumentKind) throws {
        try Files.write(bytes, to: path(kind))
    }
}

/// Whole files.
enum Files {
    static func write(_ bytes: [UInt8], to path: String) throws {
        try write(to: path) { put in put(bytes) }
    }

    /// Writes a file of any size piece by piece.
    static func write(to path: String, _ body: (_ put: ([UInt8]) -> Void) throws -> Void) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw TreeError("open", path) }
        defer { close(descriptor) }
        var isComplete = true
        try body { bytes in
            isComplete = isComplete && Glibc.write(descriptor, bytes, bytes.count) == bytes.count
        }
        guard isComplete else { throw TreeError("write", path) }
    }

    static func read(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
