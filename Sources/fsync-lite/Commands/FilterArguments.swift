import FileStorage
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
                exclude(from: try LocalFile(bytes: value).input(limit: FilterRules.sizeLimit), path: value)
            default: break
            }
        }
        for rule in rules where !rule.canMatch {
            Console.complain("note: the pattern \(rule) can match nothing")
        }
        if let name = invocation.value("--ignore-file"), !setIgnoreFile(named: name) {
            throw UsageError(
                "\(quoted(name)) is not a name for --ignore-file",
                hint: "give the name of a file, without a directory")
        }
        excludesCaches = invocation.has("--exclude-caches")
        staysOnFileSystem = invocation.has("--one-file-system")
        sizes = try SizeLimits(invocation)
    }
}

extension SizeLimits {
    init(_ invocation: Invocation) throws {
        let hint = "give a number of bytes, or one such as 10M"
        self.init(
            minimum: try invocation.value("--min-size", hint) { Int64(byteCount: $0) },
            maximum: try invocation.value("--max-size", hint) { Int64(byteCount: $0) })
    }
}
