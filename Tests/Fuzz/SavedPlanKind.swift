import FileStorage
import FileSystem
import FsyncLite
import TestSupport

extension DocumentKind {
    static let savedPlan = DocumentKind(
        name: "saved-plan", place: savedPlanPlace, isSealed: true,
        make: { random in try text(SavedPlan(random: &random)) },
        value: { desk in try SavedPlan(reading: LocalFile("\(desk.path)/\(savedPlanPlace)")) },
        check: { plan in
            for path in [plan.source, plan.target] {
                try require(!path.contains(0), "no path")
                let isFar = path == plan.source && path.contains(UInt8(ascii: ":"))
                try require(path.first == UInt8(ascii: "/") || isFar, "no path from the top")
            }
            for (step, next) in zip(plan.steps, plan.steps.dropFirst()) {
                let (path, other) = (step.action.path, next.action.path)
                try require(
                    path == other || PathRules.isAscending(path.bytes, other.bytes), "actions out of order")
            }
            for step in plan.steps {
                try step.action.check()
                try require((step.source == nil) == (step.action.verb == .delete), "a state of nothing")
            }
            try require(plan.summary.actions == plan.steps.count, "totals of other actions")
        },
        text: text)

    private static func text(_ plan: SavedPlan) throws -> [UInt8] {
        var text: [UInt8] = []
        try plan.write(to: &text)
        return text
    }

    static let savedPlanPlace = ".fsync-lite/saved-plan.json"
}

extension Action {
    func check() throws {
        for path in [self.path, from, link].compactMap(\.self) where !path.isRoot {
            try PathRules.requireInside(path.bytes, "a path outside:")
        }
        try require(size ?? 0 >= 0 && entries ?? 0 >= 0, "a number below zero")
    }
}

extension SavedPlan {
    init(random: inout SplitMix64) {
        let paths = Set((0..<random.number(0...12)).map { _ in random.path() }).sorted()
        let steps = paths.map { path in Step(random: &random, path) }
        self.init(
            source: Array("/srv/".utf8) + random.name(), target: Array("/mnt/".utf8) + random.name(),
            saved: Timestamp(random.time()),
            options: (0..<random.number(0...3)).map { _ in
                random.pick([
                    Array("--adopt".utf8), Array("--max-delete=7".utf8),
                    Array("--exclude=".utf8) + random.name(),
                ])
            },
            basis: Plan.Basis(
                manifest: random.oneIn(3) ? nil : Desk.transaction, source: random.identity(),
                target: random.oneIn(4) ? nil : random.identity()),
            steps: StepList(steps), unchanged: random.number(0...99),
            givingWay: random.oneIn(3) ? ["trees/\(Desk.transaction)", "initial"] : [])
    }
}

extension SavedPlan.Step {
    fileprivate init(random: inout SplitMix64, _ path: RelativePath) {
        let verb = random.pick(Action.Verb.allCases)
        let isFile = random.oneIn(2)
        let size = isFile ? ByteCount(clamping: random.next() % 1_000_000) : nil
        func state(_ random: inout SplitMix64) -> FileStatus {
            var status = random.status(isFile ? .file : .directory)
            status.size = size ?? 0
            return status
        }
        let action = Action(
            verb, path: path, from: verb == .move ? random.path() : nil, type: isFile ? "file" : "directory",
            size: size, link: isFile && random.oneIn(9) ? random.path() : nil,
            entries: verb == .move && !isFile ? random.number(0...99) : nil,
            causes: random.pick([[.new], [.size, .modified], [.drift]]))
        self.init(
            action: action, source: verb == .delete ? nil : state(&random),
            target: verb == .create ? nil : state(&random))
    }
}
