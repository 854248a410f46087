import FileSystem

/// The origin of the content and attributes for a stage.
protocol ContentSource: Sendable {
    /// Whether it is an earlier tree of a target.
    var isEarlier: Bool { get }
    /// The number of threads that copy from it at the same time.
    func threads(_ options: SyncOptions) -> Int

    /// The root's entry; nil if there are several sources, which have no common root.
    func rootFile(_ selection: ExtendedAttributes.Selection) throws -> File?
    /// Finds entries in a directory on this machine; nil if there is none. This and the following are for one thread.
    func resolver() -> PathResolver?
    /// - Parameter probes: find out which files are settled when their content is read.
    func reader(_ monitor: any Monitor, _ probes: SettlingProbes?) -> any SourceReader
    func digests(_ monitor: any Monitor) -> any DigestSource
    func copier(_ options: CopyOptions, _ monitor: any Monitor) -> any FileSource
}

/// An origin on this machine.
protocol LocalContents: ContentSource {
    /// Resolves the paths of its entries, for one thread.
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
    /// Announces files. Ask for their content next, in this order.
    func announce(contents: [(path: RelativePath, form: ContentHash.Form)])
    /// Announces entries. Ask for their extended attributes next, in this order.
    func announce(attributesOf files: [File], _ selection: ExtendedAttributes.Selection)
    /// nil if the entry no longer exists.
    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection
    ) throws -> ExtendedAttributes?
    /// - Parameter form: the form of the digest that another machine computes.
    func content(of path: RelativePath, _ form: ContentHash.Form) throws -> any SourceContent
    /// The reason why each of some files cannot be read; nil if it can be, or no longer exists.
    func obstacles(to paths: [RelativePath]) throws -> [Errno?]
}

/// The content of a file of a source.
protocol SourceContent {
    /// The status with which it is settled after the reading; nil if it is not, or if there was no probe.
    func settledStatus() throws(Errno) -> FileStatus?
    func digest(_ isCancelled: () -> Bool) throws(Errno) -> Digest
    func isSame(
        as other: borrowing FileDescriptor, _ isCancelled: () -> Bool
    ) throws(FileComparison.Failure) -> Bool
}

/// Computes digests of files, on one thread.
protocol DigestSource: AnyObject {
    /// Announces files. Ask for their digests next, in this order.
    func announce(_ paths: [RelativePath])
    /// See `DigestReader`.
    func digest(of path: RelativePath) throws -> DigestReader.Found?
    /// The status of a file that cannot be read; nil if it is unknown.
    func status(of path: RelativePath) throws -> FileStatus?
}

/// The way in which files are copied.
struct CopyOptions: Sendable {
    /// The origin of the digests of copies.
    enum Digests: Sendable {
        case none
        /// From the copies, so that the source is read only once.
        case ofCopies
        /// From the source, for copies that will be read again and compared.
        case ofSources
    }

    var attributes: MirroredAttributes
    /// The extended attributes to read.
    var extended: ExtendedAttributes.Selection
    var digests = Digests.none
    /// A file with more bytes of holes gets no digest.
    var mostHoles = ContentHash.mostHoles
    /// Treats a file that grows while it is copied as changing.
    var isStrict = false
    /// The data rate of all threads together.
    var limit: RateLimit?

    /// Finds out which files are settled; nil if nobody needs to know.
    var probes: SettlingProbes?

    /// The target's content of files that are copied.
    var older: OlderContent?

    /// Assumes that a small file has the size and time of the scan when it is opened.
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

/// Supplies the content of single files, on one thread.
protocol FileSource: AnyObject {
    /// Called with the number of bytes of each piece that was copied.
    func onCopy(_ body: @escaping (Int) -> Void)
    /// Whether copies read the source. False while they may be clones.
    var readsContent: Bool { get }
    /// Announces files. Copy them next, in this order.
    func announce(_ files: [File])
    /// Copies the content once, and reads the extended attributes.
    ///
    /// - Parameters:
    ///   - staged: the new file, empty or with the content of an earlier attempt.
    ///   - attempt: from 1.
    /// - Returns: the file as copied; nil if it changed meanwhile in another way than growing. For the first attempt at
    ///   a small file, "meanwhile" is the time since the scan.
    /// - Throws: `Unstageable` if it cannot be read; other errors if the copy cannot be written.
    func copy(_ file: File, to staged: borrowing ObjectHandle, attempt: Int) throws -> File?
}

/// The reason why a source's file is not copied.
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
    /// The recorded root; nil if it is unchanged.
    private let earlierRoot: File?

    /// - Parameters:
    ///   - root: the root of the target.
    ///   - earlier: the recorded root of the earlier tree; nil if it is unchanged.
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
