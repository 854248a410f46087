import FileStorage
import FsyncLite
import TestSupport

/// A kind of document that an enemy may have written: how valid ones are made, and how the tool reads them.
struct DocumentKind: Sendable {
    let name: String
    /// The place of the document in a target.
    let place: String
    /// It ends with a checksum of everything before, and errors name a line.
    let isSealed: Bool
    /// A valid document, of a random shape.
    let make: @Sendable (inout SplitMix64) -> [UInt8]
    /// Reads the document of a target with the tool's own code.
    ///
    /// - Throws: the tool's error for a document that it refuses; a `Violation` if it accepted one that it
    ///   must not accept, or if the document changes when it is written and read again.
    let read: @Sendable (Desk) throws -> Void

    /// - Parameters:
    ///   - value: reads the document of a target.
    ///   - check: throws a violation if a law is broken.
    ///   - text: writes the document of a value.
    init<Value: Equatable & SendableMetatype>(
        name: String, place: String, isSealed: Bool = false,
        make: @escaping @Sendable (inout SplitMix64) throws -> [UInt8],
        value: @escaping @Sendable (Desk) throws -> Value, check: @escaping @Sendable (Value) throws -> Void,
        text: @escaping @Sendable (Value) throws -> [UInt8]
    ) {
        (self.name, self.place, self.isSealed) = (name, place, isSealed)
        self.make = { random in
            do {
                return try make(&random)
            } catch {
                preconditionFailure("memory takes everything: \(error)")
            }
        }
        read = { desk in
            let taken = try value(desk)
            try check(taken)
            // In another place: if this ends the process, the document itself must remain.
            let other = try desk.second()
            try Files.write(try text(taken), to: "\(other.path)/\(place)")
            do {
                try require(try value(other) == taken, "written and read again, it is something else")
            } catch let error as SyncError {
                throw Violation("written again, it is refused: \(error)")
            }
        }
    }
}

extension DocumentKind {
    /// All readers. A new one needs one more line.
    static let all: [DocumentKind] = [
        .manifest, .journal, .stageLog, .historyHeader, .list, .settings, .userSettings,
        .savedPlan, .prepared,
    ]
}

/// Something that a reader must not do.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Throws a violation unless the condition holds.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    guard condition else { throw Violation(message()) }
}

extension PathRules {
    static func requireInside(_ path: [UInt8], _ what: String) throws {
        for name in names(of: path) { try requireName(name, what) }
    }

    static func requireName(_ name: some Collection<UInt8>, _ what: String) throws {
        try require(isName(name), "\(what) \(Array(name))")
    }
}
