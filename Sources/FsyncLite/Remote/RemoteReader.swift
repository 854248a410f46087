import FileSystem

/// Requests that were made ahead, for one thread, in the order in which their answers are taken.
struct RequestsAhead {
    private var waiting: ArraySlice<(path: RelativePath, answer: RemoteLink.Answer)> = []

    /// Abandons those that were made, and makes as many others as there is room for. Answers come in the order of the
    /// requests, so none is left out between two.
    mutating func ask(
        _ link: RemoteLink, _ questions: some Sequence<(path: RelativePath, question: RemoteLink.Question)>
    ) {
        abandon()
        let asked = Array(questions.prefix(link.room))
        // A lost line is found when the first answer is taken, which is asked for again.
        guard let answers = try? link.ask(asked.map(\.question)) else { return }
        waiting = zip(asked, answers).map { (path: $0.path, answer: $1) }[...]
    }

    /// The answer for a path; those before it are of no use any more.
    mutating func take(_ path: RelativePath) -> RemoteLink.Answer? {
        guard let index = waiting.firstIndex(where: { $0.path == path }) else { return nil }
        for (_, answer) in waiting[..<index] { answer.abandon() }
        defer { waiting = waiting[(index + 1)...] }
        return waiting[index].answer
    }

    mutating func abandon() {
        for (_, answer) in waiting { answer.abandon() }
        waiting = []
    }
}

/// Reads single entries of another machine, on one thread.
final class RemoteReader: SourceReader {
    private let tree: any FarEntries
    private let monitor: any Monitor
    private let digests: RemoteDigests
    private var attributes: [RelativePath: Result<ExtendedAttributes?, SystemError>] = [:]
    /// The entries of a request for attributes that is under way.
    private var asked: (paths: [RelativePath], RemoteLink.Answer, ExtendedAttributes.Selection)?

    /// - Parameter probes: count what the far end says of its own.
    init(_ tree: any FarEntries, _ monitor: any Monitor, _ probes: SettlingProbes?) {
        (self.tree, self.monitor) = (tree, monitor)
        digests = RemoteDigests(tree, monitor, probes)
    }

    deinit { asked?.1.abandon() }

    func announce(contents: [(path: RelativePath, form: ContentHash.Form)]) { digests.announce(contents) }

    /// Only privileged attributes are those of symlinks.
    private static func mayHave(_ file: File, _ selection: ExtendedAttributes.Selection) -> Bool {
        (file.status.type != .symlink || selection.privileged) && !selection.isEmpty
    }

    func announce(attributesOf files: [File], _ selection: ExtendedAttributes.Selection) {
        asked?.1.abandon()
        asked = nil
        attributes = [:]
        let paths = files.lazy.filter { RemoteReader.mayHave($0, selection) }.map(\.path)
        guard !tree.isEarlier, !paths.isEmpty else { return }
        // Without an answer, each is asked for by itself, which gives the error.
        asked = try? ask(Array(paths.prefix(WireFormat.batch)), selection)
    }

    private func ask(
        _ paths: [RelativePath], _ selection: ExtendedAttributes.Selection
    ) throws -> ([RelativePath], RemoteLink.Answer, ExtendedAttributes.Selection) {
        let answer = try tree.link.ask(.attributes) { frame in
            frame.number(UInt(paths.count))
            frame.selection(selection)
            let locator = tree.locator
            for path in paths { locator.locate(path, in: &frame) }
        }
        return (paths, answer, selection)
    }

    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection
    ) throws -> ExtendedAttributes? {
        if tree.isEarlier { return file.extended }
        guard RemoteReader.mayHave(file, selection) else { return ExtendedAttributes() }
        if let asked, asked.2 == selection, asked.paths.contains(file.path) { try take(asked) }
        if attributes[file.path] == nil { try take(ask([file.path], selection)) }
        return try attributes.removeValue(forKey: file.path)?.get()
    }

    private func take(
        _ asked: (paths: [RelativePath], RemoteLink.Answer, ExtendedAttributes.Selection)
    ) throws {
        self.asked = nil
        try tree.link.reading {
            var reader = try asked.1.end(monitor)
            for path in asked.paths { attributes[path] = try RemoteReader.attributes(&reader, path, asked.2) }
            try reader.end()
        }
    }

    static func attributes(
        _ reader: inout FrameReader, _ path: RelativePath, _ selection: ExtendedAttributes.Selection
    ) throws(WireError) -> Result<ExtendedAttributes?, SystemError> {
        switch try reader.byte() {
        case 0: return .success(try reader.extended(selection))
        case 1: return .success(nil)
        case 2: return .failure(SystemError("listxattr", path.bytes, Errno(name: try reader.text())))
        default: throw WireError("an unknown result")
        }
    }

    func content(of path: RelativePath, _ form: ContentHash.Form) throws -> any SourceContent {
        switch try digests.result(of: path, form) {
        case .found(let digest, let status, let isSettled):
            RemoteContent(form: form, digest: digest, status: status, isSettled: isSettled)
        // The copy, or the next run, finds what it is.
        case .changing: RemoteContent(form: form, digest: nil, status: nil, isSettled: false)
        case .gone: throw SystemError("openat", path.bytes, .noSuchFile)
        case .unreadable(let errno): throw SystemError("openat", path.bytes, errno)
        }
    }

    func obstacles(to paths: [RelativePath]) throws -> [Errno?] {
        guard !paths.isEmpty else { return [] }
        let answer = try tree.link.ask(.obstacles) { frame in
            frame.number(UInt(paths.count))
            let locator = tree.locator
            for path in paths { locator.locate(path, in: &frame) }
        }
        return try tree.link.reading {
            var reader = try answer.end(monitor)
            let found = try paths.map { _ in
                let name = try reader.text()
                return name.isEmpty ? nil : Errno(name: name)
            }
            try reader.end()
            return found
        }
    }
}

/// The content of a file that only its digest is known of; nil of one that was changing.
private struct RemoteContent: SourceContent {
    let form: ContentHash.Form
    let digest: Digest?
    let status: FileStatus?
    let isSettled: Bool

    func settledStatus() -> FileStatus? { isSettled ? status : nil }

    func digest(_ isCancelled: () -> Bool) throws(Errno) -> Digest {
        guard let digest, form == .plain else { throw .stale }
        return digest
    }

    func isSame(
        as other: borrowing FileDescriptor, _ isCancelled: () -> Bool
    ) throws(FileComparison.Failure) -> Bool {
        do throws(Errno) {
            guard let digest, try other.status().size == status?.size else { return false }
            return Digest(try other.digest(as: form, isCancelled: isCancelled)) == digest
        } catch {
            throw FileComparison.Failure(side: .second, errno: error)
        }
    }
}

/// Digests of files that the far end computes, for one thread.
final class RemoteDigests: DigestSource {
    enum Found {
        case found(Digest, FileStatus, isSettled: Bool)
        case gone
        case changing
        case unreadable(Errno)

        /// - Parameter note: gets the reason why the file stays racy.
        init(_ answer: FrameReader, _ note: (SettlingProbe.Refusal) -> Void = { _ in }) throws(WireError) {
            var reader = answer
            switch try reader.byte() {
            case 0:
                let digest = try reader.digest()
                let status = try reader.status()
                guard status.type == .file else { throw WireError("the digest of what is no file") }
                self = .found(digest, status, isSettled: try reader.flag())
                try reader.refusal().map(note)
            case 1: self = .gone
            case 2: self = .changing
            case 3: self = .unreadable(Errno(name: try reader.text()))
            default: throw WireError("an unknown result")
            }
            try reader.end()
        }
    }

    private let tree: any FarEntries
    private let monitor: any Monitor
    private let probes: SettlingProbes?
    private var ahead = RequestsAhead()

    init(_ tree: any FarEntries, _ monitor: any Monitor, _ probes: SettlingProbes? = nil) {
        (self.tree, self.monitor, self.probes) = (tree, monitor, probes)
    }

    deinit { ahead.abandon() }

    func announce(_ paths: [RelativePath]) { announce(paths.map { ($0, .plain) }) }

    func announce(_ files: [(path: RelativePath, form: ContentHash.Form)]) {
        let locator = tree.locator
        ahead.ask(
            tree.link, files.lazy.map { (path: $0.path, question: self.question($0.path, $0.form, locator)) })
    }

    private func question(
        _ path: RelativePath, _ form: ContentHash.Form, _ locator: EntryLocator
    ) -> RemoteLink.Question {
        RemoteLink.Question(.digest) {
            locator.locate(path, in: &$0)
            $0.flag(form == .plain)
        }
    }

    /// - Parameter form: as announced.
    func result(of path: RelativePath, _ form: ContentHash.Form = .plain) throws -> Found {
        let answer = try ahead.take(path) ?? tree.link.ask(question(path, form, tree.locator))
        return try tree.link.reading { try Found(answer.end(monitor)) { probes?.note($0, path) } }
    }

    func digest(of path: RelativePath) throws -> DigestReader.Found? {
        switch try result(of: path) {
        case .found(let digest, let status, let isSettled): (digest, status, isSettled)
        case .gone, .changing: nil
        case .unreadable(let errno): throw SystemError("read", path.bytes, errno)
        }
    }

    func status(of path: RelativePath) throws -> FileStatus? { nil }
}
