import FileStorage
import FileSystem

extension JournalObjects {
    /// Checks that every object can be renamed to each of its locations, so that the commit can be finished and undone.
    func checkDomains() throws {
        var domains: [Int: Domain] = [:]
        func domain(_ directory: Int) throws -> Domain {
            if let domain = domains[directory] { return domain }
            let domain = try handle(directory).domain()
            domains[directory] = domain
            return domain
        }
        func check(_ object: Int, into goals: [OperationGraph.Location]) throws {
            for goal in goals {
                let demand = try domain(goal.parent)
                guard demand.isExclusive, let location = location(of: object) else { continue }
                let found = try handle(location.parent).domain(of: location.name, in: domain(location.parent))
                if try demand.admits(found) ?? admits(demand, location) { continue }
                let path = try look(object).path
                throw SyncError(
                    .domain(
                        nil, .text(path), demand, found,
                        directory: escapedText(try handle(goal.parent).path)), path: path)
            }
        }
        for (index, object) in journal.objects.enumerated() where object.old != object.new {
            try check(index, into: [object.old, object.slot, object.new].compactMap(\.self))
        }
        for case .link(let link) in journal.operations { try check(link.object, into: [link.location]) }
    }

    /// Asks the kernel by linking an object of that project.
    private func admits(_ demand: Domain, _ location: OperationGraph.Location) throws -> Bool {
        let (stage, name) = (try handle(OperationGraph.transaction), FileName("probe-project"))
        try stage.makeDirectory(name)
        let trial = try stage.directory(name)
        try trial.setProject(demand.project ?? 0, handsDown: true)
        let holder = try handle(location.parent)
        var isAdmitted = true
        do throws(SystemError) {
            try holder.link(location.name, to: trial, name)
        } catch {
            guard [.crossDevice, .notPermitted, .accessDenied, .manyLinks].contains(error.errno) else {
                throw error
            }
            isAdmitted = false
        }
        try TreeRemoval.remove(name, in: stage)
        return isAdmitted
    }
}
