import FileStorage
import FileSystem

/// The directory `stage/TX`: all new objects with their full metadata, before the tree is changed.
final class Stage {
    typealias Outcome = OperationGraph.StagedEntry.Outcome

    /// The name of the transaction.
    let name: FileName
    let directory: Directory
    private let target: Directory
    private let source: any ContentSource
    private let log: StageLog
    private let previous: PreviousStage?
    let graph: OperationGraph
    private let hasDomains: Bool
    let options: SyncOptions
    private let probes: SettlingProbes?
    let monitor: any Monitor
    /// The entries of the graph, with their outcomes.
    private(set) var staged: OperationGraph.StagedList

    var attributes: MirroredAttributes { options.settableAttributes }

    /// Creates the stage of a transaction.
    ///
    /// - Parameters:
    ///   - root: the root of the target, opened before anything was staged.
    ///   - previous: the stages of interrupted runs.
    init(
        _ name: FileName, in state: StateDirectory, graph: OperationGraph, source: any ContentSource,
        root: Directory, previous: PreviousStage?, options: SyncOptions, probes: SettlingProbes?,
        monitor: any Monitor
    ) throws {
        self.probes = probes
        let stages = try state.makeStage()
        _ = try state.makeHistory()
        try stages.makeDirectory(name)
        self.name = name
        directory = try stages.directory(name)
        hasDomains = try FileSystemInfo(of: directory).hasDomains
        // Staged objects have only the source's ACLs. They must not get default ACLs of the target's root.
        let own = try ObjectHandle(of: directory)
        let inherited = try own.extendedAttributes(MirroredAttributes.acls.extended)
        if !inherited.isEmpty { _ = try own.setExtendedAttributes(ExtendedAttributes(), over: inherited) }
        self.previous = previous
        self.graph = graph
        staged = graph.stagedEntries
        log = StageLog(
            name, options.settableAttributes, of: graph.stagedEntries, in: directory, root: root,
            monitor: monitor)
        (self.source, target) = (source, root)
        self.options = options
        self.monitor = monitor
        if directory.fileSystem == nil { try probe() }
        try makeSlotDirectories(graph.slotDirectories)
    }

    /// The manifest that will be committed with the staged objects.
    func newManifest() throws -> PendingFile { try PendingFile(TransactionEntry.manifest, in: directory) }

    /// Creates the missing slot directories. New objects in a slot get the project of their destination.
    func makeSlotDirectories(_ projects: [UInt32?]) throws {
        for (number, project) in projects.enumerated() {
            let name = FileName(number: number)
            guard try directory.status(of: name) == nil else { continue }
            try directory.makeDirectory(name)
            guard hasDomains else { continue }
            let slots = try directory.directory(name)
            guard let project else {
                try slots.openToAll()
                continue
            }
            do throws(SystemError) {
                try slots.setProject(project, handsDown: true)
            } catch {
                throw SyncError(.project(project, error.errno), path: error.path)
            }
        }
    }

    /// Tests the renames that a commit uses.
    private func probe() throws {
        let (first, second) = (FileName("probe-1"), FileName("probe-2"))
        try directory.makeDirectory(first)
        try directory.makeDirectory(second)
        do {
            try directory.rename(first, to: directory, second, .exchange)
        } catch {
            throw SyncError(
                .weakFileSystem("cannot exchange two names: \(error.errno)"), path: directory.path)
        }
        do {
            try directory.rename(first, to: directory, second, .noReplace)
            throw SyncError(
                .weakFileSystem("replaces existing names in spite of RENAME_NOREPLACE"), path: directory.path)
        } catch let error as SystemError where error.errno == .exists {
            try directory.removeDirectory(first)
            try directory.removeDirectory(second)
        }
    }

    /// Stages every entry. If an entry cannot be read, this is an outcome. If it cannot be written, this is an error.
    ///
    /// Directories are created first and get their metadata last. More names of a file come after the file. All other
    /// entries are staged in any order, by several threads.
    func fill() throws {
        let (source, directory, log, monitor) = (source, directory, log, monitor)
        let staged = self.staged
        let copyOptions = CopyOptions(
            options, probes,
            older: OlderContent(in: target, parts: previous?.parts ?? [:]) { staged.replaced(by: $0) })
        let makeWorker: @Sendable () -> StageWorker = {
            StageWorker(source: source, stage: directory, copyOptions, log: log, monitor: monitor)
        }
        let worker = makeWorker()
        try makeDirectories()
        let work = StageWork(staged, monitor)
        try takeOver(work, worker)
        try work.run(
            threads: source.threads(options), filesPerItem: source.resolver() == nil ? 0 : 1, makeWorker)
        try link(work, worker)
        let directories = Array(staged.directories.reversed())
        for (number, index) in directories.enumerated() {
            if number.isMultiple(of: Stage.announced) {
                worker.announce(directories[number...].prefix(Stage.announced).map(staged.file))
            }
            let file = staged.file(at: index)
            let makesAccessible = graph.deferredDirectories.contains(file.path)
            work.end(
                index, file,
                try worker.stage(
                    index, file, at: staged.location(at: index), makesAccessible: makesAccessible))
        }
        self.staged = work.staged
        // Lets the commit move old objects of any project into the slots.
        for (number, project) in graph.slotDirectories.enumerated() where project != nil {
            try directory.directory(FileName(number: number)).openToAll()
        }
    }

    /// Makes the names in the stage durable if the sync of the file system does nothing. The files are synced already.
    func syncDirectories() throws {
        let scan = try TreeScan(directory, TreeScan.Options())
        let resolver = PathResolver(directory)
        while try scan.advance() {
            guard scan.status.type == .directory else { continue }
            try resolver.directory(scan.path).sync()
        }
        try directory.sync()
    }

    /// Logs the entries that are staged completely, for a later run.
    func keep() { log.save() }

    /// Ends all writes to the log.
    func close() { log.close() }

    /// The number of directories that are announced to the source at once.
    private static let announced = 256

    /// Creates the new directories. Only this user can access them.
    private func makeDirectories() throws {
        let stage = PathResolver(directory)
        for index in staged.directories {
            guard let (parent, name) = try stage.location(of: staged.location(at: index)) else { continue }
            try monitor.checkCancellation()
            try directory.naming(staged.path(at: index)) { try parent.makeMirrored(name) }
        }
    }

    /// Moves usable files of interrupted runs to this stage.
    private func takeOver(_ work: StageWork, _ worker: StageWorker) throws {
        guard let previous else { return }
        let stage = PathResolver(directory)
        var tookOver = false
        for (index, entry) in staged.enumerated() where entry.file.isFile && entry.primary == nil {
            let location = staged.location(at: index)
            guard let (parent, name) = try stage.location(of: location),
                let status = try previous.take(entry.file, to: parent, name)
            else { continue }
            work.end(index, entry.file, try worker.adopt(status, for: index, entry.file, at: location))
            tookOver = true
        }
        // The log that lists them will be removed soon.
        if tookOver { keep() }
    }

    /// Creates more names of files. If the first one is not staged, or cannot have more names, the file is copied
    /// again. The next names are then links to that copy.
    private func link(_ work: StageWork, _ worker: StageWorker) throws {
        guard staged.hasPrimaries else { return }
        let followers = staged.indices.filter { staged.primary(at: $0) != nil }
        var primaries: [RelativePath: Int] = [:]
        for (index, entry) in staged.enumerated() where entry.primary == nil && entry.file.linkCount > 1 {
            primaries[entry.file.path] = index
        }
        for index in followers {
            guard let path = staged.primary(at: index) else { continue }
            let location = staged.location(at: index)
            var file = staged.file(at: index)
            switch primaries[path].flatMap(work.outcome) {
            case .staged(let linked, let inode):
                if let primary = primaries[path], try worker.link(staged.location(at: primary), to: location)
                {
                    work.end(index, file, .staged(linked.moved(to: file.path), inode: inode))
                    continue
                }
                file.omitted.insert(.links)
            case .failed(let problem) where problem.code == .changing:
                // It is the same file, so it would fail too.
                work.end(index, file, .failed(.changing(file.path)))
                continue
            case .failed, .vanished, nil: break
            }
            work.end(index, staged.file(at: index), try worker.stage(index, file, at: location))
            primaries[path] = index
        }
    }
}
