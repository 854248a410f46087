/// The rules of retention that a run is given, by the places where they stand. The first place that has any counts
/// whole; nothing is joined.
public struct RetentionOptions: Hashable, Sendable {
    /// Of the command line or a job. They are kept with the target.
    public var given: RetentionPolicy?
    /// What is kept with the target is forgotten.
    public var forgetsKept = false
    /// In the `defaults` of the target's settings, which go behind the rules beside these.
    public var settings: RetentionPolicy?
    /// In the `defaults` of the user's settings.
    public var defaults: RetentionPolicy?

    public init() {}

    /// What is kept with the target after this run.
    func kept(over kept: RetentionPolicy?) -> RetentionPolicy? {
        given ?? (forgetsKept ? nil : kept)
    }

    /// - Parameters:
    ///   - kept: what was kept with the target before this run.
    ///   - target: in the target's settings.
    func rules(kept: RetentionPolicy?, _ target: RetentionPolicy) -> RetentionRules {
        let locations: [(RetentionPolicy?, RetentionRules.Origin)] = [
            (given, .given), (target, .settings), (self.settings, .settings),
            (self.kept(over: kept), .kept), (defaults, .defaults),
        ]
        for case (let policy?, let origin) in locations where !policy.isEmpty {
            return RetentionRules(policy, origin)
        }
        return RetentionRules(.builtIn, .builtIn)
    }
}

/// The rules of retention that hold for a target, and where they stand.
public struct RetentionRules: Hashable, Sendable {
    public enum Origin: String, Sendable {
        case given = "given to this run"
        case settings = "in the target's settings"
        case kept = "kept with the target"
        case defaults = "in your defaults"
        case builtIn = "built in"
    }

    public private(set) var policy: RetentionPolicy
    public let origin: Origin
    /// What only these keep goes where an apply needs the room.
    var giveWay: Bool { origin == .builtIn }

    /// Just these rules: a label keeps a snapshot only where they name it.
    public init(given policy: RetentionPolicy) {
        (self.policy, origin) = (policy, .given)
    }

    /// What has a label stays, unless the rules name labels.
    init(_ policy: RetentionPolicy, _ origin: Origin) {
        (self.policy, self.origin) = (policy, origin)
        self.policy.keepsLabelled = policy.keepLabel == nil
    }
}
