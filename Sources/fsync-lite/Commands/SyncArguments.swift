import FsyncLite

extension SyncOptions {
    /// What the options of a command line, or settings in their place, ask for.
    init(_ invocation: Invocation) throws {
        self.init()
        adopt = invocation.has("--adopt")
        allowEmptySource = invocation.has("--allow-empty-source")
        changeSource = invocation.has("--change-source")
        createParents = invocation.has("--create-parents")
        keepsDeleted = invocation.has("--no-delete")
        keepGoing = invocation.has("--keep-going")
        strict = invocation.has("--strict")
        filters = try Filters(invocation)
        deletesExcluded = invocation.has("--delete-excluded")
        comparesContent = invocation.has("--checksum")
        trustsManifest = invocation.has("--trust-manifest")
        ignoresChangeTime = invocation.has("--ignore-change-time")
        exchanges = invocation.has("--exchange")
        clonesUnchanged = invocation.has("--reflink")
        guard exchanges || !clonesUnchanged else {
            throw UsageError("--reflink is for an exchange", hint: "add --exchange, or leave it away")
        }
        recordsDigests = invocation.has("--digest")
        verifiesCopies = invocation.has("--verify")
        trustsSource = invocation.has("--trust-source")
        let switches: [(String, MirroredAttributes)] = [
            ("--no-owner", .owner), ("--no-xattrs", .xattrs), ("--no-acls", .acls),
            ("--no-hard-links", .hardLinks), ("--no-sparse", .holes),
        ]
        for (name, attribute) in switches where invocation.has(name) { attributes.remove(attribute) }
        deleteLimit =
            try invocation.value(
                "--max-delete", "give a number, a percentage such as 20%, or unlimited", DeleteLimit.init)
            ?? deleteLimit
        bandwidth = try invocation.value("--bandwidth", "give a number of bytes a second, such as 50M") {
            Int64(byteCount: $0).flatMap { $0 > 0 ? $0 : nil }
        }
        threads = try invocation.integer("--threads", in: 1...1024) ?? threads
        retention = try RetentionOptions(invocation)
    }
}
