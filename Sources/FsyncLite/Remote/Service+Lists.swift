import FileSystem

extension Service.Session {
    /// Computes the digests of the tree, and sends that of the root.
    func sendDigests(_ id: UInt32, _ reader: inout FrameReader) throws {
        scanOptions = Service.Session.scanOptions(isTargetMount: try reader.flag())
        let salt = try reader.bytes(upTo: WireFormat.saltSize)
        try reader.end()
        (issued, treeDigests) = (IssuedEntries(), nil)
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
                    && scan.status.changed != .unexamined)
        }
        var frame = FrameWriter(.answer)
        frame.digest(digests.finish())
        treeDigests = digests
        frame.findings(scan.findings)
        try end(id, frame)
    }

    func sendLists(_ id: UInt32, _ reader: inout FrameReader) throws {
        let asked = try reader.array(upTo: UInt32(WireFormat.batch)) { (reader) throws(WireError) in
            try AskedList(&reader)
        }
        try reader.end()
        guard let digests = treeDigests else { throw WireError("lists without digests") }
        var answer = EntryFrames(link, id)
        var problems: [Problem] = []
        let rules = try tree.rules()
        let resolver = PathResolver(try tree.root)
        for asked in asked {
            let node = try issued.take(asked)
            if case .unless(let digest) = asked.wish, let node, digests.nodes[node].own == digest,
                digest.isKnown
            {
                let subdirectories = Array(digests.subdirectories(of: node))
                if subdirectories.count <= ListItem.mostDigests {
                    try answer.add { frame in
                        frame.byte(ListItem.Code.same)
                        frame.array(subdirectories) { $0.digest(digests.nodes[$1].tree) }
                    }
                    for node in subdirectories {
                        try issued.append(
                            Array(digests.name(of: node)), in: asked.number, isDirectory: true, node: node)
                    }
                    continue
                }
            }
            let path = issued.path(of: asked.number)
            let (found, problem) = try open(path, digests, node, resolver)
            guard let opened = found else {
                if let problem { problems.append(problem) }
                try answer.add { $0.byte(problem == nil ? ListItem.Code.gone : ListItem.Code.unlisted) }
                continue
            }
            let scan = try TreeScan(
                opened, scanOptions.only(path), filter: FilteredWalk(filters, rules), monitor: link)
            try send(scan, of: asked, node, digests, &answer)
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
        _ scan: TreeScan, of asked: AskedList, _ directory: Int?, _ digests: TreeDigests,
        _ answer: inout EntryFrames
    ) throws {
        var finder = TreeDigests.Finder(digests, in: directory)
        let givesNumbers = if case .rest = asked.wish { false } else { true }
        while try scan.advance() {
            if case .byRule = scan.exclusion { continue }
            let path = scan.path
            let isDirectory = scan.status.type == .directory
            var node: Int?
            if isDirectory {
                node = finder.find(path.lastComponent, in: digests)
                // A different directory has this name now.
                if let found = node, digests.nodes[found].inode != scan.status.inode { node = nil }
            }
            let name = try answer.add { frame in
                frame.byte(ListItem.Code.entry)
                defer {
                    if isDirectory { frame.digest(node.map { digests.nodes[$0].tree } ?? .unknown) }
                }
                return encoder.append(only: scan, at: path, to: &frame)
            }
            try issued.append(name, in: asked.number, of: scan, givesNumbers: givesNumbers, node: node)
        }
        try answer.add { $0.byte(ListItem.Code.end) }
    }
}
