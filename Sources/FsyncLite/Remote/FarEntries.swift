/// Entries of another machine that were sent, so their content can be asked for.
protocol FarEntries: ContentSource {
    var link: RemoteLink { get }
    /// Locates the entries that were sent so far.
    var locator: EntryLocator { get }
}

extension FarEntries {
    /// A thread waits for the connection, not for a processor. 16 threads ask for 4,096 files at a time.
    func threads(_ options: SyncOptions) -> Int { options.threads ?? max(options.copyThreads, 16) }

    func resolver() -> PathResolver? { nil }
    /// The other end probes its files itself.
    func reader(_ monitor: any Monitor, _ probes: SettlingProbes?) -> any SourceReader {
        RemoteReader(self, monitor, probes)
    }
    func digests(_ monitor: any Monitor) -> any DigestSource { RemoteReader(self, monitor) }

    func copier(_ options: CopyOptions, _ monitor: any Monitor) -> any FileSource {
        RemoteCopier(self, options, monitor)
    }
}

/// The numbers of the directories that were sent, in their order.
struct EntryLocator: Sendable {
    private(set) var directories: [RelativePath: UInt32] = [.root: 0]

    /// Adds the next entry that is sent.
    mutating func add(_ path: RelativePath, isDirectory: Bool) {
        if isDirectory { directories[path] = UInt32(directories.count) }
    }

    /// Adds the number of an entry's directory and its name to a request.
    func locate(_ path: RelativePath, in frame: inout FrameWriter) {
        frame.number(number(of: path.parent ?? .root))
        frame.bytes(path.lastComponent)
    }

    /// The number of a directory. For one that was not sent it is invalid, so the entry is gone.
    func number(of directory: RelativePath) -> UInt32 { directories[directory] ?? .max }
}
