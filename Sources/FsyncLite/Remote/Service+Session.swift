import FileStorage
import FileSystem

extension Service {
    /// One tree that is open for one run.
    final class Session {
        enum Kind {
            case source(LocalTree)
            /// The second value has the lock of the snapshot's target, if other runs must wait.
            case snapshot(CopiedSnapshot, TargetRoot?)
        }

        let link: ServiceLink
        private let kind: Kind
        private let contents: any LocalContents
        let filters: Filters
        let access: Access
        let options: CopyOptions
        private let selection: ExtendedAttributes.Selection
        var encoder = EntryEncoder()
        var issued = IssuedEntries()
        /// Those of the last scan for digests, if no other scan came after it.
        var treeDigests: TreeDigests?
        var scanOptions = TreeScan.Options.source
        private let reader: any SourceReader
        private let digests: DigestReader
        private let copier: ContentCopier

        static func ofSource(
            _ request: ServiceLink.Request, _ link: ServiceLink, _ access: Access
        ) throws -> Session {
            var reader = request.payload
            let path = try reader.bytes(upTo: WireFormat.longestPath)
            let attributes = MirroredAttributes(rawValue: try reader.byte())
            guard MirroredAttributes.all.isSuperset(of: attributes) else {
                throw WireError("an unknown attribute")
            }
            let selection = try Session.selection(&reader)
            var options = CopyOptions(attributes, selection)
            options.trustsScan = false
            options.digests = try reader.flag() ? .ofCopies : .none
            options.mostHoles = try reader.size()
            options.isStrict = try reader.flag()
            let filters = try reader.filters()
            try reader.end()
            guard !path.isEmpty, !path.contains(0) else { throw WireError("a path is invalid") }
            let scanned = try ManifestHeader.Scan.now()
            let source: MirrorSource
            let root: Directory
            switch access {
            case .any(let served, _):
                root =
                    try served?.open(path) ?? MirrorSource.directory(LocalFile(bytes: path).absolute()).open()
                source = .directory(root.path)
            case .only(let own, let admitted):
                guard admitted.admit(filters) else {
                    throw SyncError(.notServed("the target's settings include files that are left out here"))
                }
                (source, root) = (own, try own.open())
            case .digests(let own): (source, root) = (own, try own.open())
            case .snapshot, .nothing: throw SyncError(.notServed("there is no source"))
            }
            let tree = try LocalTree(source, scanned: scanned, root)
            options.probes = SettlingProbes(tree.facts.racyCheck)
            return Session(link, access, .source(tree), tree, filters, options, selection)
        }

        init(
            _ link: ServiceLink, _ access: Access, _ kind: Kind, _ contents: any LocalContents,
            _ filters: Filters, _ options: CopyOptions, _ selection: ExtendedAttributes.Selection
        ) {
            (self.link, self.access, self.kind, self.contents) = (link, access, kind, contents)
            (self.filters, self.options, self.selection) = (filters, options, selection)
            reader = contents.reader(link)
            digests = DigestReader(contents.paths, monitor: link, probes: options.probes)
            copier = ContentCopier(contents.paths, options, monitor: link)
        }

        /// The source.
        ///
        /// - Throws: `WireError` if the session is of a snapshot: its only requests are for content.
        var tree: LocalTree {
            get throws(WireError) {
                guard case .source(let tree) = kind else { throw WireError("a snapshot has its list only") }
                return tree
            }
        }

        /// Reads which extended attributes are asked for: privileged ones only if this user is root.
        private static func selection(
            _ reader: inout FrameReader
        ) throws(WireError) -> ExtendedAttributes.Selection {
            ExtendedAttributes.Selection(
                plain: try reader.flag(), acls: try reader.flag(),
                privileged: try reader.flag() && Account.isRoot)
        }

        // MARK: Answers

        func describe(_ id: UInt32) throws {
            if case .snapshot(let snapshot, _) = kind { return try send(snapshot, for: id) }
            var frame = FrameWriter(.answer)
            try frame.opened(tree, selection) { encoder.number(of: $0) }
            try end(id, frame)
        }

        /// Sends the last part of an answer, in pieces.
        func end(_ id: UInt32, _ content: consuming FrameWriter) throws {
            try content.bytes.dropFirst(WireFormat.headSize).forEachPiece { piece, isLast in
                var frame = FrameWriter(.answer, for: id)
                frame.flag(isLast)
                frame.raw(piece)
                try link.send(frame)
            }
        }

        /// Announces the files of these requests to the kernel. Invalid requests are refused later.
        func announce(_ requests: [ServiceLink.Request]) {
            var (contents, compared): ([File], [RelativePath]) = ([], [])
            for request in requests where request.kind == .content || request.kind == .digest {
                var reader = request.payload
                guard let path = (try? entry(&reader)) ?? nil else { continue }
                if request.kind == .digest {
                    compared.append(path)
                } else {
                    contents.append(Session.file(path))
                }
            }
            if !contents.isEmpty { copier.announce(contents) }
            if !compared.isEmpty { digests.announce(compared) }
        }

        /// A file with a known path only.
        private static func file(_ path: RelativePath) -> File {
            var status = FileStatus(type: .file, modified: FileTime(seconds: 0, nanoseconds: 0))
            // An empty file would not be announced.
            status.size = 1
            return File(path: path, status: status, destination: [])
        }

        /// Reads which entry a request names. The result is nil for an entry that was not sent. It is
        /// reported as gone, so that a client cannot find out whether it exists.
        private func entry(_ reader: inout FrameReader) throws(WireError) -> RelativePath? {
            let directory = try reader.number(UInt32.self)
            return issued.path(of: try reader.bytes(upTo: 255), in: directory)
        }

        func answer(_ request: ServiceLink.Request) throws {
            var reader = request.payload
            // `rules` is refused, too: ignore files are content.
            if case .digests = access, ![.open, .scan, .digest].contains(request.kind) {
                throw SyncError(.notServed("a verification gets digests only"))
            }
            switch request.kind {
            case .open, .snapshot: break
            case .rules:
                try reader.end()
                try sendRules(request.id)
            case .scan:
                let isTargetMount = try reader.flag()
                try reader.end()
                try sendEntries(request.id, isTargetMount: isTargetMount)
            case .digests: try sendDigests(request.id, &reader)
            case .list: try sendLists(request.id, &reader)
            case .attributes:
                let (path, selection) = (try entry(&reader), try Session.selection(&reader))
                try reader.end()
                try send(request.id, of: path) { path, frame in
                    // The type matters only for symlinks: they can have privileged attributes only.
                    let found = try self.reader.extendedAttributes(of: Session.file(path), selection)
                    if let found { frame.extended(found) }
                    return found != nil
                }
            case .digest:
                let (path, isPlain) = (try entry(&reader), try reader.flag())
                try reader.end()
                try send(request.id, of: path) {
                    try write(digestOf: $0, as: isPlain ? .plain : .sparse, to: &$1)
                }
            case .obstacles:
                let path = try entry(&reader)
                try reader.end()
                try send(request.id, of: path) { path, _ in
                    let errno = try self.reader.obstacles(to: [path])[0]
                    if let errno { throw SystemError("openat", path.bytes, errno) }
                    return true
                }
            case .content:
                let (path, isDelta) = (try entry(&reader), try reader.flag())
                let goal: WireGoal =
                    try isDelta
                    ? DeltaGoal(link, request.id, options, seed: reader.word())
                    : WireGoal(link, request.id, options)
                try reader.end()
                try sendContent(request.id, path, to: goal)
            }
        }

        /// Sends the ignore files, cache tags and mounts of all included directories. This is a walk of its
        /// own, because the scan of the target needs them at its own pace.
        private func sendRules(_ id: UInt32) throws {
            let scan = try tree.scan(filters, .source.prefetching(), link)
            let rules = try tree.rules().reader(for: filters)
            var frame = FrameWriter(.answer)
            func say(_ path: RelativePath) throws {
                let said = try rules.contents(of: path)
                guard said.ignoreFile != nil || said.isCache || said.isOtherFileSystem else { return }
                frame.bytes(path.bytes)
                frame.flag(said.ignoreFile != nil)
                if let file = said.ignoreFile { frame.bytes(file) }
                frame.flag(said.isCache)
                frame.flag(said.isOtherFileSystem)
                guard frame.count <= WireFormat.longestAnswer else {
                    throw SyncError(.failed, "the ignore files are too large together for another machine")
                }
            }
            try say(.root)
            while try scan.advance() {
                guard scan.status.type == .directory, scan.sight != .unseen, case .none = scan.exclusion
                else { continue }
                try say(scan.path)
            }
            try end(id, frame)
        }

        /// - Parameter isTargetMount: the target is the root of a file system, so `lost+found` takes no part.
        static func scanOptions(isTargetMount: Bool) -> TreeScan.Options {
            var target = FileStatus(type: .directory, modified: FileTime(seconds: 0, nanoseconds: 0))
            target.isMountRoot = isTargetMount
            return .source.apart(from: [target])
        }

        private func sendEntries(_ id: UInt32, isTargetMount: Bool) throws {
            encoder.restart()
            (issued, treeDigests) = (IssuedEntries(), nil)
            let options = Session.scanOptions(isTargetMount: isTargetMount)
            let scan = try tree.scan(filters, options.prefetching(), link)
            var answer = EntryFrames(link, id)
            while try scan.advance() {
                // The other end excludes its own entry by the same rule.
                if case .byRule = scan.exclusion { continue }
                let (directory, name) = try answer.add { encoder.append(scan, to: &$0) }
                try issued.append(name, in: directory, of: scan)
            }
            try answer.finish()
            var last = FrameWriter(.answer)
            last.findings(scan.findings)
            try end(id, last)
        }

        /// Sends a value of an entry, or why there is none.
        ///
        ///     found = 0 value | 1 | 2 errno       1: the entry is gone
        ///
        /// - Parameter write: adds the value; returns false if the entry is gone.
        private func send(
            _ id: UInt32, of path: RelativePath?, _ write: (RelativePath, inout FrameWriter) throws -> Bool
        ) throws {
            var frame = FrameWriter(.answer)
            frame.byte(0)
            do {
                if try path.map({ try write($0, &frame) }) ?? false { return try end(id, frame) }
                frame = FrameWriter(.answer)
                frame.byte(1)
            } catch let error as SystemError {
                frame = FrameWriter(.answer)
                frame.byte(2)
                frame.text(error.errno.name)
            }
            try end(id, frame)
        }

        private func write(
            digestOf path: RelativePath, as form: ContentHash.Form, to frame: inout FrameWriter
        ) throws -> Bool {
            let found = try digests.digest(of: path, as: form)
            // The file is gone, or it is changing.
            if found == nil, try contents.paths.status(of: path) == nil { return false }
            frame.flag(found != nil)
            guard let found else { return true }
            frame.digest(found.digest)
            frame.status(found.status, device: encoder.number(of: found.status.device))
            frame.flag(found.isSettled)
            frame.byte(options.probes?.takeLatest()?.rawValue ?? 0)
            return true
        }

        private func sendContent(_ id: UInt32, _ path: RelativePath?, to goal: WireGoal) throws {
            var frame = FrameWriter(.answer)
            do {
                guard let path else { throw Unstageable.vanished }
                var copied: File?
                for attempt in 1...ReceivedContent.attempts where copied == nil {
                    copied = try copier.copy(Session.file(path), into: goal, attempt: attempt)
                }
                if let copied {
                    frame.byte(0)
                    frame.status(copied.status, device: encoder.number(of: copied.status.device))
                    frame.byte(
                        (copied.isGrowing ? 1 : 0) | (copied.omitted.contains(.unread) ? 2 : 0)
                            | (copied.isSettled ? 4 : 0))
                    frame.byte(options.probes?.takeLatest()?.rawValue ?? 0)
                    frame.extended(copied.extended)
                    frame.digest(goal.check(upTo: copied.size.rawCount))
                } else {
                    throw Unstageable.failed(.changing(path))
                }
            } catch let obstacle as Unstageable {
                switch obstacle {
                case .vanished: frame.byte(1)
                case .failed(let problem):
                    frame.byte(2)
                    frame.problem(problem)
                }
            } catch {
                if let failure = goal.failure { throw failure }
                throw error
            }
            try end(id, frame)
        }
    }
}
