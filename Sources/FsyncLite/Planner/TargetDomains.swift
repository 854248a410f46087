import FileStorage
import FileSystem

/// Finds exclusive directories of the target into or out of which a plan moves objects. An object that the commit or
/// its reversal moves into one must have its project and its encryption. No file is written.
struct TargetDomains {
    /// An object that cannot be renamed into its new directory, or back into its old one.
    struct Obstacle {
        let path: RelativePath
        /// The present path in the target.
        let directory: RelativePath
        let demand: Domain
        let found: Domain
    }

    /// Projects that directories hand down to new objects, by new path.
    private(set) var projects: [RelativePath: UInt32] = [:]
    private(set) var obstacles: [Obstacle] = []
    private let resolver: PathResolver?
    private let moves: MoveMap
    private var known: [RelativePath: Domain] = [:]
    /// The last lookup, because neighbours share their directory.
    private var last: (path: RelativePath, domain: Domain)?

    init(_ difference: Difference, in root: TargetRoot) throws {
        moves = MoveMap(difference)
        resolver = root.directory.map { PathResolver($0) }
        let anchor = try root.anchor()
        guard try FileSystemInfo(of: anchor).hasDomains else { return }
        known[.root] = try anchor.domain()
        try lookAtArrivals(difference, stage: root.state?.directory.domain() ?? known[.root] ?? Domain())
        try lookAtDepartures(difference)
    }

    private mutating func lookAtArrivals(_ difference: Difference, stage: Domain) throws {
        for file in difference.arriving {
            let parent = file.path.parent ?? .root
            guard !moves.isCreated(parent) else { continue }
            let directory = moves.oldPath(of: parent)
            let demand = try domain(directory)
            guard demand.isExclusive else { continue }
            if demand.handsDownProject { projects[parent] = demand.project }
            if case .existing(let existing)? = difference.links[file.path] {
                try check(existing.path, into: directory)
            } else if demand.isEncrypted, demand.policy != stage.policy {
                obstacles.append(
                    Obstacle(path: file.path, directory: directory, demand: demand, found: stage))
            }
        }
    }

    private mutating func lookAtDepartures(_ difference: Difference) throws {
        func leave(_ path: RelativePath, _ domains: inout TargetDomains) throws {
            guard let parent = path.parent, domains.moves.newPath(of: parent) != nil else { return }
            try domains.check(path, into: parent)
        }
        for file in difference.deleted { try leave(file.path, &self) }
        for match in difference.matches {
            if match.replacesContent {
                try leave(match.target.path, &self)
            } else if match.isRenamed, !moves.isCarried(match) {
                try check(match.target.path, into: match.target.path.parent ?? .root)
                // A new directory inherits the project of its parent.
                var goal = match.source.path.parent ?? .root
                while moves.isCreated(goal), let above = goal.parent { goal = above }
                try check(match.target.path, into: moves.oldPath(of: goal))
            }
        }
    }

    private mutating func domain(_ path: RelativePath) throws -> Domain {
        if let last, last.path == path { return last.domain }
        let domain = try known[path] ?? lookUp(path)
        known[path] = domain
        last = (path, domain)
        return domain
    }

    /// An excluded entry may have the name of a directory of the source. Then the guards refuse the plan.
    private func lookUp(_ path: RelativePath) throws(SystemError) -> Domain {
        do throws(SystemError) {
            return try resolver?.directory(path).domain() ?? Domain()
        } catch {
            guard Errno.noDirectory.contains(error.errno) else { throw error }
            return Domain()
        }
    }

    /// - Parameter path: the path of an object in the target.
    private mutating func check(_ path: RelativePath, into directory: RelativePath) throws {
        let demand = try domain(directory)
        guard demand.isExclusive, let parent = path.parent,
            let (holder, name) = try resolver?.location(of: path)
        else { return }
        let found = try holder.domain(of: name, in: domain(parent))
        // If the kernel does not show the project, the rename is tried before the commit.
        guard demand.admits(found) == false else { return }
        obstacles.append(Obstacle(path: path, directory: directory, demand: demand, found: found))
    }

    /// One refusal per directory.
    var refusals: [Refusal] {
        var first: [RelativePath: (obstacle: Obstacle, count: Int)] = [:]
        for obstacle in obstacles {
            first[obstacle.directory, default: (obstacle, 0)].count += 1
        }
        return first.sorted { $0.key < $1.key }.map { directory, found in
            let others = found.count > 1 ? " (and \(found.count - 1) more)" : ""
            return .domain(
                "\(found.obstacle.path)\(others)", .inTarget(found.obstacle.path.bytes),
                found.obstacle.demand, found.obstacle.found,
                directory: directory.isRoot ? "the target's root" : "\(directory)")
        }
    }
}

extension Domain {
    /// Why an object cannot be renamed into a directory, and what to do.
    static func reason(_ demand: Domain, _ found: Domain, directory: String) -> String {
        if demand.handsDownProject, let project = demand.project, project != found.project {
            let own = found.project.map { "of project \($0)" } ?? "of another project"
            return
                "it is \(own), and \(directory) takes only files of project \(project). Run chattr -p \(project) on it, or chattr -P on the directory"
        }
        return
            "\(directory) is encrypted, and takes only files with the same encryption. Encrypt the whole target, "
            + "or leave the directory out with --exclude"
    }
}
