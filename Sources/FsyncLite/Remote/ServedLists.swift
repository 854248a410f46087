import FileStorage
import FileSystem

/// The directories that have a number in this session, and which lists of them may still be sent.
struct ServedLists {
    struct Directory {
        /// nil if the directory is newer than the digests.
        let node: Int?
        var hasNumbered = false
        var hasListed = false
    }

    let digests: TreeDigests
    private(set) var directories: [Directory]

    init(_ digests: TreeDigests) {
        self.digests = digests
        directories = [Directory(node: 0)]
    }

    mutating func number(_ node: Int?) {
        directories.append(Directory(node: node))
    }

    /// Notes that a list of a directory is sent. A directory is numbered once and listed once. Otherwise a
    /// client could make this end store any number of names.
    mutating func take(_ asked: AskedList) throws(WireError) -> Directory {
        guard Int(asked.number) < directories.count else { throw WireError("a directory that was not sent") }
        let directory = directories[Int(asked.number)]
        let wasSent: WritableKeyPath<Directory, Bool> =
            if case .rest = asked.wish { \.hasListed } else { \.hasNumbered }
        guard !directory[keyPath: wasSent] else { throw WireError("a directory twice") }
        directories[Int(asked.number)][keyPath: wasSent] = true
        return directory
    }
}

extension Service.Session {
    /// Computes the digests of the tree, and sends that of the root.
    func sendDigests(_ id: UInt32, _ reader: inout FrameReader) throws {
        scanOptions = Service.Session.scanOptions(isTargetMount: try reader.flag())
        let salt = try reader.bytes(upTo: WireFormat.saltSize)
        try reader.end()
        issued = IssuedEntries()
        var digests = TreeDigests(salt: salt, options.attributes)
        let device = try tree.root.status().device
        let scan = try tree.scan(filters, scanOptions.prefetching(), link)
        while try scan.advance() {
            // The other end excludes its own entry by the same rule.
            if case .byRule = scan.exclusion { continue }
            let isIncluded = if case .none = scan.exclusion { true } else { false }
            // An entry on another file system is unknown: the manifest has no device, and that file system
            // may have no change times.
            digests.add(
                scan,
                isKnown: isIncluded && scan.sight != .unseen && scan.status.device == device
                    && scan.status.changed != CommitSpans.unexamined)
        }
        var frame = FrameWriter(.answer)
        frame.digest(digests.finish())
        lists = ServedLists(digests)
        frame.findings(scan.findings)
        try end(id, frame)
    }

    func sendLists(_ id: UInt32, _ reader: inout FrameReader) throws {
        let asked = try reader.array(upTo: UInt32(WireFormat.batch)) { (reader) throws(WireError) in
            try AskedList(&reader)
        }
        try reader.end()
        guard var lists else { throw WireError("lists without digests") }
        // Only one variable may have the value, or each change would copy it.
        self.lists = nil
        defer { self.lists = lists }
        var answer = EntryFrames(link, id)
        var problems: [Problem] = []
        let rules = try tree.rules()
        let resolver = PathResolver(try tree.root)
        for asked in asked {
            let directory = try lists.take(asked)
            if case .unless(let digest) = asked.wish, let node = directory.node,
                lists.digests.nodes[node].own == digest, digest.isKnown
            {
                let subdirectories = Array(lists.digests.subdirectories(of: node))
                if subdirectories.count <= ListItem.mostDigests {
                    try answer.add { frame in
                        frame.byte(ListItem.Code.same)
                        frame.array(subdirectories) { $0.digest(lists.digests.nodes[$1].tree) }
                    }
                    for node in subdirectories {
                        let name = Array(lists.digests.name(of: node))
                        try issued.append(name, in: asked.number, isDirectory: true)
                        lists.number(node)
                    }
                    continue
                }
            }
            let path = issued.path(of: asked.number)
            let (found, problem) = try open(path, lists.digests, directory.node, resolver)
            guard let opened = found else {
                if let problem { problems.append(problem) }
                try answer.add { $0.byte(problem == nil ? ListItem.Code.gone : ListItem.Code.unlisted) }
                continue
            }
            let scan = try TreeScan(
                opened, scanOptions.only(path), filter: FilteredWalk(filters, rules), monitor: link)
            try send(scan, of: asked, directory, &lists, &answer)
            problems += scan.findings.problems
        }
        try answer.finish()
        var findings = TreeScan.Findings()
        findings.problems = problems
        var frame = FrameWriter(.answer)
        frame.findings(findings)
        try end(id, frame)
    }

    /// - Returns: the directory, or why it cannot be opened; nothing if it no longer exists.
    private func open(
        _ path: RelativePath, _ digests: TreeDigests, _ node: Int?, _ resolver: PathResolver
    ) throws -> (Directory?, Problem?) {
        do throws(SystemError) {
            let directory = try resolver.directory(path)
            if let node, node > 0, try directory.status().inode != digests.nodes[node].inode {
                return (nil, .retyped(path))
            }
            return (directory, nil)
        } catch {
            switch error.errno {
            case .notDirectory, .tooManyLinks, .stale: return (nil, .retyped(path))
            case .noSuchFile: return (nil, nil)
            default: return (nil, .unreadable(path, error.errno))
            }
        }
    }

    private func send(
        _ scan: TreeScan, of asked: AskedList, _ directory: ServedLists.Directory, _ lists: inout ServedLists,
        _ answer: inout EntryFrames
    ) throws {
        var finder = TreeDigests.Finder(lists.digests, in: directory.node)
        let givesNumbers = if case .rest = asked.wish { false } else { true }
        while try scan.advance() {
            if case .byRule = scan.exclusion { continue }
            let path = scan.path
            let isDirectory = scan.status.type == .directory
            var node: Int?
            if isDirectory {
                node = finder.find(path.lastComponent, in: lists.digests)
                // A different directory has this name now.
                if let found = node, lists.digests.nodes[found].inode != scan.status.inode { node = nil }
            }
            let name = try answer.add { frame in
                frame.byte(ListItem.Code.entry)
                defer {
                    if isDirectory { frame.digest(node.map { lists.digests.nodes[$0].tree } ?? .unknown) }
                }
                return encoder.append(only: scan, at: path, to: &frame)
            }
            try issued.append(name, in: asked.number, of: scan, givesNumbers: givesNumbers)
            if isDirectory, givesNumbers { lists.number(node) }
        }
        try answer.add { $0.byte(ListItem.Code.end) }
    }
}
