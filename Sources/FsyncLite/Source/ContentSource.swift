import FileSystem

/// Where a stage gets the content and the attributes of entries.
protocol ContentSource: Sendable {
    /// It is an earlier tree of a target.
    var isEarlier: Bool { get }
    /// The threads that copy from it at a time.
    func threads(_ options: SyncOptions) -> Int

    /// The root's entry; nil for several sources, which have no root of their own.
    func rootFile(_ selection: ExtendedAttributes.Selection) throws -> File?
    /// Finds entries in a directory of this machine; nil without one. For one thread, as the following.
    func resolver() -> PathResolver?
    /// - Parameter probes: find which files are settled when their content is read.
    func reader(_ monitor: any Monitor, _ probes: SettlingProbes?) -> any SourceReader
    func digests(_ monitor: any Monitor) -> any DigestSource
    func copier(_ options: CopyOptions, _ monitor: any Monitor) -> any FileSource
}

/// One of this machine.
protocol LocalContents: ContentSource {
    /// Resolves its entries. For one thread.
    var paths: PathResolver { get }
}

extension LocalContents {
    func resolver() -> PathResolver? { paths }
    func reader(_ monitor: any Monitor, _ probes: SettlingProbes?) -> any SourceReader {
        LocalReader(paths, probes, isEarlier: isEarlier)
    }
    func digests(_ monitor: any Monitor) -> any DigestSource { DigestReader(paths, monitor: monitor) }
    func copier(_ options: CopyOptions, _ monitor: any Monitor) -> any FileSource {
        ContentCopier(paths, options, isEarlier: isEarlier, monitor: monitor)
    }
}

extension ContentSource {
    func threads(_ options: SyncOptions) -> Int { options.copyThreads }
    func reader(_ monitor: any Monitor) -> any SourceReader { reader(monitor, nil) }
}

/// Reads single entries of a source, on one thread.
protocol SourceReader: AnyObject {
    /// Files whose content is asked for next, in this order.
    func announce(contents: [(path: RelativePath, form: ContentHash.Form)])
    /// Entries whose extended attributes are asked for next, in this order.
    func announce(attributesOf files: [File], _ selection: ExtendedAttributes.Selection)
    /// nil if the entry no longer exists.
    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection
    ) throws -> ExtendedAttributes?
    /// - Parameter form: that of the digest which another machine computes.
    func content(of path: RelativePath, _ form: ContentHash.Form) throws -> any SourceContent
    /// Why each of some files cannot be read; nil where it can be, or no longer exists.
    func obstacles(to paths: [RelativePath]) throws -> [Errno?]
}

/// The content of a file of a source.
protocol SourceContent {
    /// The status for which it is settled, after it was read; nil if it is not, or no one asked.
    func settledStatus() throws(Errno) -> FileStatus?
    func digest(_ isCancelled: () -> Bool) throws(Errno) -> Digest
    func isSame(
        as other: borrowing FileDescriptor, _ isCancelled: () -> Bool
    ) throws(FileComparison.Failure) -> Bool
}

/// Computes digests of files, on one thread.
protocol DigestSource: AnyObject {
    /// Files whose digests are asked for next, in this order.
    func announce(_ paths: [RelativePath])
    /// See `DigestReader`.
    func digest(of path: RelativePath) throws -> DigestReader.Found?
    /// Of a file that cannot be read; nil if that is unknown.
    func status(of path: RelativePath) throws -> FileStatus?
}

/// How files are copied.
struct CopyOptions: Sendable {
    /// Where the digests of copies come from.
    enum Digests: Sendable {
        case none
        /// From the copies: the source is read only once.
        case ofCopies
        /// From the source, for copies that will be read again and compared.
        case ofSources
    }

    var attributes: MirroredAttributes
    /// The extended attributes to read.
    var extended: ExtendedAttributes.Selection
    var digests = Digests.none
    /// A file with more bytes of holes gets none.
    var mostHoles = ContentHash.mostHoles
    /// A file that grows while it is copied counts as changing.
    var isStrict = false
    /// The data rate of all threads together.
    var limit: RateLimit?

    /// Finds which files are settled; nil where no one asks.
    var probes: SettlingProbes?

    /// What the target has of files that are copied.
    var older: OlderContent?

    /// The size and time that a scan saw count as those of a small file when it is opened.
    var trustsScan = true

    init(_ attributes: MirroredAttributes, _ extended: ExtendedAttributes.Selection) {
        (self.attributes, self.extended) = (attributes, extended)
    }

    init(_ options: SyncOptions, _ probes: SettlingProbes?, older: OlderContent? = nil) {
        self.init(options.settableAttributes, options.settableAttributes.extended)
        digests = options.verifiesCopies ? .ofSources : options.recordsDigests ? .ofCopies : .none
        mostHoles = options.mostHoles
        isStrict = options.strict
        (self.probes, self.older) = (probes, older)
        limit = options.bandwidth.map { RateLimit(bytesPerSecond: $0.rawCount) }
    }
}

/// Gives the content of single files, on one thread.
protocol FileSource: AnyObject {
    /// Called with the number of bytes of each piece that was copied.
    func onCopy(_ body: @escaping (Int) -> Void)
    /// Copies read the source; false while they may be clones.
    var readsContent: Bool { get }
    /// Files that are copied next, in this order.
    func announce(_ files: [File])
    /// Copies the content once, and reads the extended attributes.
    ///
    /// - Parameters:
    ///   - staged: the new file, empty or with the content of an earlier attempt.
    ///   - attempt: from 1.
    /// - Returns: the file as copied; nil if it changed meanwhile other than by growing. For the first attempt at a
    ///   small file, "meanwhile" is since the scan.
    /// - Throws: `Unstageable` for what cannot be read, other errors for what cannot be written.
    func copy(_ file: File, to staged: borrowing ObjectHandle, attempt: Int) throws -> File?
}

/// Why a source's file is not copied.
enum Unstageable: Error {
    /// It no longer exists.
    case vanished
    case failed(Problem)
}

/// An earlier tree of a target.
struct EarlierTree: LocalContents {
    let root: Directory
    /// The present location of an entry's object.
    private let location: @Sendable (RelativePath) -> RelativePath
    /// The root as recorded; nil if it is unchanged.
    private let earlierRoot: File?

    /// - Parameters:
    ///   - root: the target's.
    ///   - earlier: the root as recorded in the earlier tree; nil if it is unchanged.
    ///   - location: the present location of an entry's object, below the root of the target.
    init(
        _ root: Directory, earlier: File?,
        location: @escaping @Sendable (RelativePath) -> RelativePath
    ) {
        (self.root, earlierRoot, self.location) = (root, earlier, location)
    }

    var isEarlier: Bool { true }

    func rootFile(_ selection: ExtendedAttributes.Selection) throws -> File? {
        try earlierRoot ?? File(rootOf: root, selection)
    }

    /// Resolves entries to their present locations.
    var paths: PathResolver { PathResolver(root, locations: location) }
}

extension File {
    /// The entry of a tree's root.
    init(rootOf directory: Directory, _ selection: ExtendedAttributes.Selection) throws(SystemError) {
        self.init(path: .root, status: try directory.status(), destination: [])
        extended = try ObjectHandle(of: directory).extendedAttributes(selection)
    }
}
