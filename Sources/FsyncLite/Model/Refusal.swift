import FileStorage
import FileSystem

/// A reason to refuse that was found before anything was written.
///
/// A function of one table (`RefusalsOf…`) makes each of them. So its text and its way out are in one place.
public struct Refusal: Hashable, Sendable, CustomStringConvertible {
    public let kind: Guard
    /// The finding.
    public let reason: String
    /// The needed space and the free space, if there is too little.
    public package(set) var bytes: Space?
    package let wayOut: WayOut
    /// A safer step to try before the way out; nil if nothing can be lost.
    package let safeWay: String?

    /// In bytes.
    public struct Space: Hashable, Sendable {
        public let needed: ByteCount
        public let free: ByteCount
    }

    /// - Parameter safeWay: nil for that of the kind.
    package init(_ kind: Guard, _ reason: String, _ wayOut: WayOut, safeWay: String? = nil) {
        (self.kind, self.reason, self.wayOut) = (kind, reason, wayOut)
        self.safeWay = safeWay ?? kind.safeWay
    }

    /// The option that overrides the refusal, with its value; nil if there is none.
    public var option: String? {
        wayOut.adding.first.map { option in
            option.name + (option.value.map { " \(escapedText($0))" } ?? "")
        }
    }

    public var description: String { reason }
}

/// The changes after which a refused run continues. They are commands to run first, and changes of the same command.
package struct WayOut: Hashable, Sendable {
    /// A word of a command. A string literal is a word by itself.
    package enum Word: Hashable, Sendable, ExpressibleByStringLiteral {
        case text([UInt8])
        /// The target's path.
        case target
        /// The path of an entry of the target.
        case inTarget([UInt8])
        /// The target, by its name in commands of fsync-lite; else this path.
        case targetName(else: [UInt8])
        /// The target's path with a suffix, and the path of its state after an exchange.
        case besideTarget([UInt8])
        case stateBesideTarget
        /// The mount point of the target's file system.
        case mountPoint

        /// The same for a command that has a target.
        static let targetName = Word.targetName(else: [])

        package init(stringLiteral text: String) { self = .text(Array(text.utf8)) }
    }

    package struct Option: Hashable, Sendable {
        package let name: String
        package let value: [UInt8]?
    }

    /// Commands to run first.
    package private(set) var first: [[Word]] = []
    /// Options to add to the command.
    package private(set) var adding: [Option] = []
    /// Options to remove from the command.
    package private(set) var removing: [String] = []
    /// New values of arguments, by their names.
    package private(set) var arguments: [String: [UInt8]] = [:]
    /// Another user, who must run it.
    package private(set) var user: UInt32?
    /// Whether the way out is another command in place of the same one.
    package private(set) var isWhole = false

    package static func adding(_ option: String, _ value: String? = nil) -> WayOut {
        adding(option, value.map { Array($0.utf8) })
    }

    package static func adding(_ option: String, _ value: [UInt8]?) -> WayOut {
        WayOut(adding: [Option(name: option, value: value)])
    }

    package static func without(_ options: String...) -> WayOut { WayOut(removing: options) }

    /// Moves an object away from a reserved place.
    package static func movingAway(_ path: [UInt8]) -> WayOut {
        .first("mv", .text(path), .text(path + ".moved".utf8))
    }

    package static func first(_ words: Word...) -> WayOut { WayOut(first: [words]) }

    /// Another command, in place of the same one.
    package static func command(_ words: Word...) -> WayOut { WayOut(first: [words], isWhole: true) }

    package static func asUser(_ number: UInt32) -> WayOut { WayOut(user: number) }

    package static func target(_ path: [UInt8]) -> WayOut { argument("TARGET", path) }

    package static func argument(_ name: String, _ value: [UInt8]) -> WayOut {
        WayOut(arguments: [name: value])
    }

    /// No command helps.
    package static let none = WayOut()

    package var isNone: Bool { self == .none }

    /// The changes of both.
    package static func + (one: WayOut, other: WayOut) -> WayOut {
        var way = one
        way.first += other.first.filter { !one.first.contains($0) }
        way.adding += other.adding.filter { !one.adding.contains($0) }
        way.removing += other.removing.filter { !one.removing.contains($0) }
        way.arguments.merge(other.arguments) { first, _ in first }
        way.user = one.user ?? other.user
        way.isWhole = one.isWhole || other.isWhole
        return way
    }
}

extension SyncError {
    /// A refusal that ends a run at once.
    package init(_ refusal: Refusal, path: [UInt8]? = nil) {
        self.init(refusal.kind.code, path: path, refusal.reason)
        details = refusal
    }

    /// The reason, if a guard refused.
    public var refusal: Refusal? { details as? Refusal }
}
