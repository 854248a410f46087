import FileSystem

/// The requests that one thread has made ahead, in the order in which it takes their answers.
struct RequestsAhead {
    typealias Asked = (path: RelativePath, answer: RemoteLink.Answer)

    private var waiting: ArraySlice<Asked> = []

    /// Abandons the earlier requests, and makes as many new ones as are allowed. Answers come in the order of
    /// requests, so only the last questions are left out.
    mutating func ask(
        _ link: RemoteLink, _ questions: some Sequence<(path: RelativePath, question: RemoteLink.Question)>
    ) {
        abandon()
        let asked = Array(questions.prefix(link.space))
        // If the connection is lost, the first answer is asked for again, and that reports the loss.
        guard !asked.isEmpty, let answers = try? link.ask(asked.map(\.question)) else { return }
        waiting = zip(asked, answers).map { (path: $0.path, answer: $1) }[...]
    }

    /// The answer for a path. The answers before it are abandoned.
    mutating func take(_ path: RelativePath) -> RemoteLink.Answer? {
        guard let index = waiting.firstIndex(where: { $0.path == path }) else { return nil }
        for (_, answer) in waiting[..<index] { answer.abandon() }
        defer { waiting = waiting[(index + 1)...] }
        return waiting[index].answer
    }

    /// All answers, if one of them is for this path.
    mutating func takeAll(with path: RelativePath) -> ArraySlice<Asked> {
        guard waiting.contains(where: { $0.path == path }) else { return [] }
        defer { waiting = [] }
        return waiting
    }

    mutating func abandon() {
        for (_, answer) in waiting { answer.abandon() }
        waiting = []
    }
}

/// Reads single entries of another machine, on one thread.
final class RemoteReader: SourceReader, DigestSource {
    private let tree: any FarEntries
    private let monitor: any Monitor
    private let probes: SettlingProbes?
    /// The requests for what was announced last: attributes or digests.
    private var ahead = RequestsAhead()
    /// The attributes that were announced and have been received.
    private var attributes: [RelativePath: Result<ExtendedAttributes?, any Error>] = [:]

    /// - Parameter probes: counts the results of the other end's probes.
    init(_ tree: any FarEntries, _ monitor: any Monitor, _ probes: SettlingProbes? = nil) {
        (self.tree, self.monitor, self.probes) = (tree, monitor, probes)
    }

    deinit { ahead.abandon() }

    private func question(
        _ kind: WireFormat.RequestKind, _ path: RelativePath, _ locator: EntryLocator,
        _ wish: (inout FrameWriter) -> Void = { _ in }
    ) -> RemoteLink.Question {
        RemoteLink.Question(kind) { frame in
            locator.locate(path, in: &frame)
            wish(&frame)
        }
    }

    /// Reads a value of an entry from an answer; nil if the entry is gone.
    ///
    /// - Throws: `WireError`; `SystemError` if the other end cannot read the entry.
    static func found<Value>(
        _ answer: FrameReader, _ path: RelativePath,
        _ read: (inout FrameReader) throws(WireError) -> Value
    ) throws -> Value? {
        var reader = answer
        var value: Value?
        var errno: Errno?
        switch try reader.byte() {
        case 0: value = try read(&reader)
        case 1: break
        case 2: errno = Errno(name: try reader.text())
        default: throw WireError("an unknown result")
        }
        try reader.end()
        if let errno { throw SystemError("read", path.bytes, errno) }
        return value
    }

    // MARK: Extended attributes

    private func question(
        _ file: File, _ selection: ExtendedAttributes.Selection, _ locator: EntryLocator
    ) -> RemoteLink.Question {
        question(.attributes, file.path, locator) { $0.selection(selection) }
    }

    func announce(attributesOf files: [File], _ selection: ExtendedAttributes.Selection) {
        guard !tree.isEarlier else { return }
        attributes = [:]
        let locator = tree.locator
        let asked = files.lazy.filter { $0.mayHave(selection) }.prefix(WireFormat.batch)
        ahead.ask(
            tree.link, asked.map { (path: $0.path, question: self.question($0, selection, locator)) })
    }

    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection
    ) throws -> ExtendedAttributes? {
        if tree.isEarlier { return file.extended }
        guard file.mayHave(selection) else { return ExtendedAttributes() }
        // Take all answers at once. Answers to other threads come after them, and only while these are taken.
        for (path, answer) in ahead.takeAll(with: file.path) {
            attributes[path] = Result { try attributes(answer, path, selection) }
        }
        if let known = attributes.removeValue(forKey: file.path) { return try known.get() }
        return try attributes(
            tree.link.ask(question(file, selection, tree.locator)), file.path, selection)
    }

    private func attributes(
        _ answer: RemoteLink.Answer, _ path: RelativePath, _ selection: ExtendedAttributes.Selection
    ) throws -> ExtendedAttributes? {
        try tree.link.reading {
            try RemoteReader.found(answer.end(monitor), path) { (reader) throws(WireError) in
                try reader.extended(selection)
            }
        }
    }

    // MARK: Content

    private func question(
        _ path: RelativePath, _ form: ContentHash.Form, _ locator: EntryLocator
    ) -> RemoteLink.Question {
        question(.digest, path, locator) { $0.flag(form == .plain) }
    }

    func announce(_ paths: [RelativePath]) { announce(contents: paths.map { ($0, .plain) }) }

    func announce(contents: [(path: RelativePath, form: ContentHash.Form)]) {
        let locator = tree.locator
        ahead.ask(
            tree.link,
            contents.lazy.map { (path: $0.path, question: self.question($0.path, $0.form, locator)) })
    }

    /// - Parameter form: the form that was announced.
    private func content(of path: RelativePath, as form: ContentHash.Form) throws -> RemoteContent? {
        let answer = try ahead.take(path) ?? tree.link.ask(question(path, form, tree.locator))
        return try tree.link.reading {
            try RemoteReader.found(answer.end(monitor), path) { (reader) throws(WireError) in
                try RemoteContent(&reader, as: form) { probes?.note($0, path) }
            }
        }
    }

    func content(of path: RelativePath, _ form: ContentHash.Form) throws -> any SourceContent {
        guard let content = try content(of: path, as: form) else {
            throw SystemError("openat", path.bytes, .noSuchFile)
        }
        return content
    }

    func digest(of path: RelativePath) throws -> DigestReader.Found? {
        try content(of: path, as: .plain)?.found
    }

    func status(of path: RelativePath) throws -> FileStatus? { nil }

    func obstacles(to paths: [RelativePath]) throws -> [Errno?] {
        guard !paths.isEmpty else { return [] }
        let locator = tree.locator
        let answers = try tree.link.ask(paths.map { question(.obstacles, $0, locator) })
        return try tree.link.reading {
            try zip(paths, answers).map { path, answer -> Errno? in
                do {
                    _ = try RemoteReader.found(answer.end(monitor), path) { (_) throws(WireError) in }
                    return nil
                } catch let error as SystemError {
                    return error.errno
                }
            }
        }
    }
}

/// The content of a file, of which only the digest is known.
struct RemoteContent: SourceContent {
    private let form: ContentHash.Form
    /// nil for a file that was changing. Its copy, or the next run, finds its content.
    let found: DigestReader.Found?

    /// - Parameter note: called with the reason if the file remains racy.
    init(
        _ reader: inout FrameReader, as form: ContentHash.Form,
        _ note: (SettlingProbe.Refusal) -> Void = { _ in }
    ) throws(WireError) {
        self.form = form
        guard try reader.flag() else {
            found = nil
            return
        }
        found = (try reader.digest(), try reader.status(), try reader.flag())
        guard found?.status.type == .file else { throw WireError("only files have digests") }
        try reader.refusal().map(note)
    }

    func settledStatus() -> FileStatus? { found.flatMap { $0.isSettled ? $0.status : nil } }

    func digest(_ isCancelled: () -> Bool) throws(Errno) -> Digest {
        guard let found, form == .plain else { throw .stale }
        return found.digest
    }

    func isSame(
        as other: borrowing FileDescriptor, _ isCancelled: () -> Bool
    ) throws(FileComparison.Failure) -> Bool {
        do throws(Errno) {
            guard let found, try other.status().size == found.status.size else { return false }
            return Digest(try other.digest(as: form, isCancelled: isCancelled)) == found.digest
        } catch {
            throw FileComparison.Failure(side: .second, errno: error)
        }
    }
}
