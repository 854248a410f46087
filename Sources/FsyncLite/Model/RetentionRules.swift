/// The retention rules of a run, by origin. The first origin that has any rule wins. The others are ignored.
public struct RetentionOptions: Hashable, Sendable {
    /// From the command line or a job. They are stored with the target.
    public var given: RetentionPolicy?
    /// Deletes the rules stored with the target.
    public var forgetsStored = false
    /// From the `defaults` of the target's settings. The rules at the top level of these settings precede them.
    public var settings: RetentionPolicy?
    /// From the `defaults` of the user's settings.
    public var defaults: RetentionPolicy?
    /// No rule removes anything from the history.
    public var keepsAll = false

    public init() {}

    /// The rules stored with the target after this run.
    func stored(over stored: RetentionPolicy?) -> RetentionPolicy? {
        given ?? (forgetsStored ? nil : stored)
    }

    /// - Parameters:
    ///   - stored: the retention rules that were stored with the target before this run.
    ///   - target: the rules in the target's settings.
    func rules(stored: RetentionPolicy?, _ target: RetentionPolicy) -> RetentionRules {
        guard !keepsAll else { return RetentionRules(.everything, .appendOnly) }
        let locations: [(RetentionPolicy?, RetentionRules.Origin)] = [
            (given, .given), (target, .settings), (self.settings, .settings),
            (self.stored(over: stored), .stored), (defaults, .defaults),
        ]
        for case (let policy?, let origin) in locations where !policy.isEmpty {
            return RetentionRules(policy, origin)
        }
        return RetentionRules(.builtIn, .builtIn)
    }
}

/// The retention rules in force for a target, and their origin.
public struct RetentionRules: Hashable, Sendable {
    public enum Origin: String, Sendable {
        case given = "given to this run"
        case settings = "in the target's settings"
        case stored = "kept with the target"
        case defaults = "in your defaults"
        case builtIn = "built in"
        case appendOnly = "append-only"
    }

    public private(set) var policy: RetentionPolicy
    public let origin: Origin
    /// Whether snapshots that only these rules keep are deleted if a run needs the space.
    var removesWhenFull: Bool { origin == .builtIn }

    /// Rules for one command.
    public init(given policy: RetentionPolicy) { self.init(policy, .given) }

    /// Snapshots with a label are kept, unless the rules name labels.
    init(_ policy: RetentionPolicy, _ origin: Origin) {
        (self.policy, self.origin) = (policy, origin)
        self.policy.keepsLabelled = policy.keepLabel == nil
    }
}
