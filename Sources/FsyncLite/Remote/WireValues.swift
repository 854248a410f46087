import FileSystem

// Values of the model as bytes on a connection.

extension FrameWriter {
    /// - Parameter device: the number of the file system in this session.
    mutating func status(_ status: FileStatus, device: UInt32) {
        byte(status.type.rawValue)
        number(status.permissions)
        number(status.owner)
        number(status.group)
        number(status.links)
        number(status.inode)
        number(device)
        size(status.size.rawCount)
        size(status.allocated.rawCount)
        time(status.modified)
        time(status.changed)
        flag(status.created != nil)
        if let created = status.created { time(created) }
        if status.type == .characterDevice || status.type == .blockDevice {
            number(status.represents.major)
            number(status.represents.minor)
        }
    }

    mutating func extended(_ extended: ExtendedAttributes) {
        array(extended.attributes) { frame, attribute in
            frame.bytes(attribute.name)
            frame.bytes(attribute.value)
        }
    }

    mutating func selection(_ selection: ExtendedAttributes.Selection) {
        for isWanted in [selection.plain, selection.acls, selection.privileged] { flag(isWanted) }
    }

    mutating func digest(_ digest: Digest) {
        let value = digest.value
        for word in [value.first, value.second, value.third, value.fourth] { self.word(word) }
    }

    mutating func problem(_ problem: Problem) {
        bytes(problem.path.bytes)
        text(problem.code.rawValue)
        text(problem.message.shortened)
    }

    mutating func findings(_ findings: TreeScan.Findings) {
        size(Int64(findings.omittedSockets))
        flag(findings.metReservedName)
        array(findings.mounted) { frame, mount in
            frame.bytes(mount.path.bytes)
            frame.text(mount.fileSystem)
        }
        for problem in findings.problems { self.problem(problem) }
    }

    mutating func filters(_ filters: Filters) {
        array(filters.rules) { $0.bytes($1.text) }
        bytes(filters.ignoreFileName?.bytes ?? [])
        flag(filters.excludesCaches)
        flag(filters.excludesOtherFileSystems)
        for limit in [filters.sizes.minimum, filters.sizes.maximum] {
            flag(limit != nil)
            if let limit { size(limit.rawCount) }
        }
    }
}

extension String {
    /// The text, cut to the longest message that may be sent.
    var shortened: String {
        utf8.count <= WireFormat.longestText
            ? self : String(decoding: utf8.prefix(WireFormat.longestText - 4), as: UTF8.self)
    }
}

extension FrameReader {
    mutating func status() throws(WireError) -> FileStatus {
        guard let type = FileType(rawValue: try byte()), type != .socket else {
            throw WireError("a file of an unknown type")
        }
        var status = FileStatus(type: type, modified: FileTime(seconds: 0, nanoseconds: 0))
        status.permissions = try number(UInt16.self, upTo: 0o7777)
        status.owner = try number(UInt32.self)
        status.group = try number(UInt32.self)
        status.links = try number(UInt32.self)
        status.inode = try number()
        status.device = DeviceNumber(major: 0, minor: try number(UInt32.self))
        status.size = ByteCount(clamping: try size())
        status.allocated = ByteCount(clamping: try size())
        status.modified = try time()
        status.changed = try time()
        if try flag() { status.created = try time() }
        if status.type == .characterDevice || status.type == .blockDevice {
            status.represents = DeviceNumber(major: try number(UInt32.self), minor: try number(UInt32.self))
        }
        return status
    }

    /// - Parameter selection: the kinds that were asked for; others are an error.
    mutating func extended(_ selection: ExtendedAttributes.Selection) throws(WireError) -> ExtendedAttributes
    {
        var attributes: [ExtendedAttributes.Attribute] = []
        for _ in 0..<(try number(UInt32.self, upTo: 65_536)) {
            let name = try bytes(upTo: 255)
            // An older version also sends attributes that are reserved now. They are skipped.
            let isReserved = ExtendedAttributes.isReserved(name)
            guard !name.isEmpty, !name.contains(0), isReserved || selection.contains(name) else {
                throw WireError("an extended attribute that was not asked for")
            }
            guard attributes.last.map({ $0.name.lexicographicallyPrecedes(name) }) ?? true else {
                throw WireError("extended attributes out of order")
            }
            let value = try bytes(upTo: 65_536)
            if !isReserved { attributes.append(ExtendedAttributes.Attribute(name: name, value: value)) }
        }
        return ExtendedAttributes(attributes)
    }

    mutating func digest() throws(WireError) -> Digest {
        Digest(SHA256.Value(try word(), try word(), try word(), try word()))
    }

    /// Reads why a file remains racy; nil if it does not.
    mutating func refusal() throws(WireError) -> SettlingProbe.Refusal? {
        let number = try byte()
        guard number > 0 else { return nil }
        guard let refusal = SettlingProbe.Refusal(rawValue: number) else {
            throw WireError("a probe refused for an unknown reason")
        }
        return refusal
    }

    /// Reads a problem. Only problems of reading a source are valid.
    /// - Parameter known: the valid codes.
    mutating func problem(
        _ known: Set<Problem.Code> = [.unreadable, .changing, .unsupported, .tooLong]
    ) throws(WireError) -> Problem {
        let path = try path()
        guard let code = Problem.Code(rawValue: try text()), known.contains(code) else {
            throw WireError("a problem of an unknown kind")
        }
        return Problem(path: path, code: code, message: singleLine(try text()))
    }

    mutating func findings() throws(WireError) -> TreeScan.Findings {
        var findings = TreeScan.Findings()
        findings.omittedSockets = Int(clamping: try size())
        findings.metReservedName = try flag()
        for _ in 0..<(try number(UInt32.self, upTo: 65_536)) {
            findings.mounted.append(SourceMount(path: try path(), fileSystem: singleLine(try text())))
        }
        while !isAtEnd { findings.problems.append(try problem()) }
        return findings
    }

    mutating func filters() throws(WireError) -> Filters {
        var filters = Filters()
        for _ in 0..<(try number(UInt32.self)) { filters.exclude(try bytes(upTo: WireFormat.longestPath)) }
        let name = try bytes(upTo: 255)
        guard name.isEmpty || filters.setIgnoreFile(named: name) else {
            throw WireError("the name of the ignore files is invalid")
        }
        filters.excludesCaches = try flag()
        filters.excludesOtherFileSystems = try flag()
        if try flag() { filters.sizes.minimum = ByteCount(clamping: try size()) }
        if try flag() { filters.sizes.maximum = ByteCount(clamping: try size()) }
        return filters
    }
}
