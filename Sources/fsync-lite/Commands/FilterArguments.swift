import FsyncLite

extension Filters {
    /// The filters of a command line, in the order given.
    init(_ invocation: Invocation) throws {
        self.init()
        for (option, value) in invocation.sequence {
            switch option {
            case "--exclude": exclude(value)
            case "--include": include(value)
            case "--exclude-from":
                let file = LocalFile(bytes: value)
                guard try file.exists else {
                    throw SyncError(.inputMissing, path: value, "there is no such file of patterns")
                }
                exclude(from: Array(try file.data()), path: value)
            default: break
            }
        }
        for rule in rules where !rule.canMatch {
            Console.complain("note: the pattern \(rule) can match nothing")
        }
        if let name = invocation.value("--ignore-file"), !setIgnoreFile(named: name) {
            throw UsageError(
                "\(QuotedBytes(name)) is not a name for --ignore-file",
                wayOut: "give the name of a file, without a directory")
        }
        excludesCaches = invocation.has("--exclude-caches")
        staysOnFileSystem = invocation.has("--one-file-system")
        sizes = try SizeLimits(invocation)
    }
}

extension SizeLimits {
    init(_ invocation: Invocation) throws {
        self.init(
            minimum: try SizeLimits.size("--min-size", invocation),
            maximum: try SizeLimits.size("--max-size", invocation))
    }

    private static func size(_ option: String, _ invocation: Invocation) throws -> Int64? {
        guard let text = try invocation.text(option) else { return nil }
        guard let size = Int64(byteCount: text) else {
            throw UsageError(
                "\"\(text)\" is not a size for \(option)",
                wayOut: "give a number of bytes, or one such as 10M")
        }
        return size
    }
}
