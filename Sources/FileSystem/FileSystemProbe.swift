/// Tries the abilities of a file system in a directory of its own.
struct FileSystemProbe {
    private let directory: Directory
    private var found: FileSystemCapabilities

    private init(_ known: FileSystemCapabilities, in directory: Directory) {
        (found, self.directory) = (known, directory)
    }

    /// - Parameters:
    ///   - known: the capabilities that follow from the kind of the file system.
    ///   - directory: new and empty. Its entries are not removed.
    static func run(_ known: FileSystemCapabilities, in directory: Directory) throws
        -> FileSystemCapabilities
    {
        var probe = FileSystemProbe(known, in: directory)
        try probe.tryRenames()
        try probe.tryFile()
        try probe.tryTypes()
        try probe.tryNames()
        return probe.found
    }

    private func make(_ name: FileName) throws {
        _ = try directory.open(name, [.write, .create, .exclusive, .noFollow], permissions: 0o600)
    }

    /// True if the call works, false if the file system refuses it.
    private func works(_ call: () throws -> Void) throws -> Bool {
        do {
            try call()
            return true
        } catch let error as SystemError {
            let fatal: Set<Errno> = [
                .noSpace, .quotaExceeded, .readOnlyFileSystem, .noSuchDevice, .timedOut, .stale,
            ]
            if fatal.contains(error.errno) { throw error }
            return false
        }
    }

    private mutating func tryRenames() throws {
        let (first, second) = (FileName("a"), FileName("b"))
        try make(first)
        // The new name must be free. If it is taken, a file system that does not know the mode refuses as well.
        found.refusesToReplace = try works {
            try directory.renameAtOnce(first, to: directory, second, .noReplace)
        }
        if !found.refusesToReplace { try make(second) } else { try make(first) }
        found.exchangesNames = try works {
            try directory.renameAtOnce(first, to: directory, second, .exchange)
        }
        do {
            try directory.sync()
        } catch {
            let odd: Set<Errno> = [.invalid, .notSupported, .notImplemented, .badDescriptor, .accessDenied]
            guard odd.contains(error.errno) else { throw error }
            found.directorySyncFailure = error.errno
        }
    }

    private mutating func tryFile() throws {
        let name = FileName("b")
        let file = try ObjectHandle(opening: name, in: directory, [.readWrite, .noFollow])
        // An odd second, and nine decimals without a zero, reveal the step of times.
        let wanted = FileTime(seconds: 1_000_000_001, nanoseconds: 987_654_321)
        if try works({ try file.setModified(wanted) }) {
            found.timeStep = FileSystemProbe.step(from: wanted, to: try file.status().modified)
        }
        var permissions: [Bool] = []
        for wanted: UInt16 in [0o640, 0o600] {
            let isSet = try works { try file.setPermissions(wanted) }
            permissions.append(try isSet && file.status().permissions == wanted)
        }
        if permissions.contains(false) { found.stored.remove(.permissions) }
        if Account.isRoot {
            let isSet = try works { try file.setOwner(1, group: 1) }
            let status = try file.status()
            if !isSet || status.owner != 1 || status.group != 1 { found.stored.remove(.owners) }
        }
        // Entries 1, 2 (user 1), 4, 16 and 32 of the kernel's format, version 2.
        let entries: [[UInt8]] = [[1, 6], [2, 4, 1], [4, 4], [16, 4], [32, 0]].map {
            [$0[0], 0, $0[1], 0] + ($0.count > 2 ? [$0[2], 0, 0, 0] : [255, 255, 255, 255])
        }
        let attributes: [(FileSystemCapabilities.Features, String, [UInt8])] = [
            (.xattrs, "user.fsync-lite", [1]), (.privilegedXattrs, "trusted.fsync-lite", [1]),
            (.acls, "system.posix_acl_access", [2, 0, 0, 0] + entries.joined()),
        ]
        for (feature, name, value) in attributes where feature != .privilegedXattrs || Account.isRoot {
            let wanted = ExtendedAttributes([.init(name: Array(name.utf8), value: value)])
            var refused = wanted
            let isSet = try works {
                refused = try file.setExtendedAttributes(wanted, over: ExtendedAttributes())
            }
            // Some file systems accept an attribute and then drop it.
            let isStored = try file.extendedAttributes(.readable)[Array(name.utf8)] == value
            if !isSet || !refused.isEmpty || !isStored { found.stored.remove(feature) }
        }
    }

    /// The step of times, found by comparing a wanted time with the stored one.
    private static func step(from wanted: FileTime, to stored: FileTime) -> Int64 {
        let difference = wanted.nanoseconds(since: stored).magnitude
        let steps: [Int64] = [
            1, 100, 1000, 1_000_000, 10_000_000, 1_000_000_000, 2_000_000_000, 86_400_000_000_000,
        ]
        return difference == 0 ? 1 : steps.first { difference < $0 } ?? steps[steps.count - 1]
    }

    private mutating func tryTypes() throws {
        let (link, symlink, fifo, device) = (
            FileName("link"), FileName("symlink"), FileName("fifo"), FileName("device")
        )
        if found.keepsInodes {
            let isLinked = try works {
                try directory.link(FileName("b"), to: directory, link)
            }
            let (first, second) = (try directory.status(of: FileName("b")), try directory.status(of: link))
            if !isLinked || first?.inode != second?.inode || second?.links != 2 {
                found.stored.remove(.hardLinks)
            }
        }
        let destination = Array("x".utf8)
        if try !works({ try directory.makeSymlink(symlink, to: destination) })
            || directory.status(of: symlink)?.type != .symlink
        {
            found.stored.subtract([.symlinks, .symlinkAttributes, .outwardSymlinks])
        } else if try !works({
            // Its destination does not exist, so a call that follows it fails.
            try ObjectHandle(symlink, in: directory).setModified(FileTime(seconds: 1, nanoseconds: 0))
        }) || directory.status(of: symlink)?.modified.rawSeconds != 1 {
            found.stored.remove(.symlinkAttributes)
        }
        for (number, destination) in ["/x", "../x"].enumerated() where found.stored.contains(.symlinks) {
            let (name, bytes) = (FileName(number: number), Array(destination.utf8))
            var isThere = false
            let isMade = try works {
                try directory.makeSymlink(name, to: bytes)
                isThere = try directory.destination(of: name) == bytes
            }
            if !isMade || !isThere { found.stored.remove(.outwardSymlinks) }
        }
        if try !works({ try directory.makeFIFO(fifo) })
            || directory.status(of: fifo)?.type != .fifo
        {
            found.stored.remove(.fifos)
        }
        // For other users, each device node is a problem by itself, because only root can make one.
        guard Account.isRoot else { return }
        let null = DeviceNumber(major: 1, minor: 3)
        if try !works({
            try directory.makeDevice(device, type: .characterDevice, null)
        }) || directory.status(of: device)?.type != .characterDevice {
            found.stored.remove(.devices)
        }
    }

    // MARK: Names

    private mutating func tryNames() throws {
        var rules = FileSystemCapabilities.NameRules()
        let special = Array("\"*:<>?|\\\u{1}\t\n\u{7f}".utf8)
        if try !takes(Array("n".utf8) + special + Array("n".utf8)) {
            for byte in special where try !takes([UInt8(ascii: "n"), byte, UInt8(ascii: "n")]) {
                rules.forbidden.insert(byte)
            }
            // The test of control character 1 is valid for all 31.
            if rules.forbidden.contains(1) { rules.forbidden.formUnion(1..<32) }
        }
        for byte in [UInt8(ascii: "."), UInt8(ascii: " ")] where try !takes([UInt8(ascii: "n"), byte]) {
            rules.forbiddenAtEnd.insert(byte)
        }
        rules.mustBeUTF8 = try !takes([UInt8(ascii: "n"), 0xFF])
        rules.reservesDeviceNames = try !takes(Array("aux.n".utf8))
        for length in [255, 143, 100]
        where try takes([UInt8](repeating: UInt8(ascii: "n"), count: length)) {
            rules.longest = length
            break
        }
        rules.foldsCase = try areOne("case", "CASE")
        rules.foldsForms = try areOne("form\u{e9}", "forme\u{301}")
        found.names = rules
    }

    /// Whether a file can have this name, and appears under it in the listing.
    private func takes(_ bytes: [UInt8]) throws -> Bool {
        guard let name = FileName(bytes), try works({ try make(name) }) else {
            return false
        }
        guard try DirectoryListing.names(in: directory).contains(name) else { return false }
        return try works { try directory.unlink(name) }
    }

    private func areOne(_ first: String, _ second: String) throws -> Bool {
        guard let first = FileName(first.utf8), let second = FileName(second.utf8),
            try works({ try make(first) })
        else { return false }
        return try directory.status(of: second) != nil
    }
}

extension Directory {
    /// This directory as the root of a target. If its file system is not complete, its capabilities are attached.
    public func asTarget() throws(SystemError) -> Directory {
        guard fileSystem == nil else { return self }
        let capabilities = try FileSystemCapabilities(of: self)
        return capabilities.isComplete ? self : try reopened(on: TargetFileSystem(capabilities))
    }

    /// This directory with known capabilities; nil means a complete file system.
    public func asTarget(on fileSystem: TargetFileSystem?) throws(SystemError) -> Directory {
        try fileSystem.map { (known) throws(SystemError) in try reopened(on: known) } ?? self
    }

    /// Finds out the abilities of this target's file system. It makes a directory with entries, and removes it. The
    /// modification time of this directory is restored.
    public func probe() throws {
        guard let fileSystem else { return }
        let name = PendingFile.temporaryName
        let before = try status().modified
        try makeDirectory(name)
        let result = Result {
            try FileSystemProbe.run(fileSystem.capabilities, in: directory(name))
        }
        try TreeRemoval.remove(name, in: self)
        try ObjectHandle(of: self).setModified(before)
        fileSystem.take(try result.get())
    }
}
