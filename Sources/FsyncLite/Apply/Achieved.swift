import FileSystem

// What came of a plan in the stage: the report and the manifest are made from it, not from the plan.

extension Plan {
    /// The plan without what could not be staged; nil when everything could.
    func withoutOmissions(among outcomes: [(path: RelativePath, outcome: Stage.Outcome)]) -> Plan? {
        var difference = difference
        var problems = problems
        var omitted: [RelativePath] = []
        for (path, outcome) in outcomes {
            switch outcome {
            case .staged: continue
            // The next run finds it gone, and asks the guards before it deletes.
            case .vanished: break
            case .failed(let problem): problems.append(problem)
            }
            omitted.append(path)
        }
        guard !omitted.isEmpty else { return nil }
        difference.omit(omitted)
        var reduced = Plan(difference, root: root)
        reduced.notes = notes
        reduced.problems = problems.sorted { $0.path < $1.path }
        return reduced
    }
}

extension ManifestUpdate {
    /// What the manifest says of the tree that a plan leads to.
    init(_ plan: Plan, staged: [(file: File, outcome: Stage.Outcome)]) {
        self.init()
        let difference = plan.difference
        for problem in plan.problems { distrust(problem.path) }
        for path in difference.forgotten { remove(path) }
        for (file, _) in difference.deleted { remove(file.path) }
        for pair in difference.pairs where pair.isRenamed { remove(pair.target.path) }
        for pair in difference.pairs where !pair.replacesContent {
            set(pair.source.recorded(likeIn: pair.target.status), targetInode: pair.target.status.inode)
        }
        for (file, outcome) in staged {
            guard case .staged(let source, let target) = outcome else { continue }
            set(file.with(source).recorded(likeIn: target), targetInode: target.inode)
        }
    }
}

extension File {
    /// Another status of the same file, taken later.
    fileprivate func with(_ status: FileStatus) -> File {
        File(path: path, status: status, destination: destination)
    }

    /// What the manifest says: the source's identity and times, with the owner that the target could take.
    fileprivate func recorded(likeIn target: FileStatus) -> File {
        guard !Account.isRoot else { return self }
        var status = status
        (status.owner, status.group) = (target.owner, target.group)
        return with(status)
    }
}
