import FileSystem

/// Copies files from another machine, on one thread. The other end tries a changing file three times.
final class RemoteCopier: FileSource {
    private let tree: any FarEntries
    private let options: CopyOptions
    private let monitor: any Monitor
    private var advanced: (Int) -> Void = { _ in }
    private var ahead = RequestsAhead()
    /// For the hashes of blocks.
    private let seed = UInt64.random(in: .min ... .max)

    init(_ tree: any FarEntries, _ options: CopyOptions, _ monitor: any Monitor) {
        (self.tree, self.options, self.monitor) = (tree, options, monitor)
    }

    deinit { ahead.abandon() }

    /// Also true if the connection is lost, because further work would be useless.
    private var isCancelled: Bool { monitor.isCancelled || tree.link.isLost }

    func onCopy(_ body: @escaping (Int) -> Void) { advanced = body }
    var readsContent: Bool { true }

    func announce(_ files: [File]) {
        let locator = tree.locator
        ahead.ask(
            tree.link,
            files.lazy.filter(\.isFile).map { (path: $0.path, question: self.question(for: $0, locator)) })
    }

    private func places(for file: File) -> [OlderContent.Place] { options.older?.places(for: file) ?? [] }

    /// - Parameter isWhole: ask for all content, even if the target has older content.
    private func question(
        for file: File, _ locator: EntryLocator, isWhole: Bool = false
    ) -> RemoteLink.Question {
        let isDelta = !isWhole && !places(for: file).isEmpty
        return RemoteLink.Question(.content, isDelta: isDelta) { frame in
            locator.locate(file.path, in: &frame)
            frame.flag(isDelta)
            if isDelta { frame.word(seed) }
        }
    }

    func copy(_ file: File, to staged: borrowing ObjectHandle, attempt: Int) throws -> File? {
        do {
            return try receive(
                ahead.take(file.path) ?? tree.link.ask(question(for: file, tree.locator)), file, to: staged)
        } catch is ReceivedContent.Mismatch {
            // The answers that were asked for before would come first.
            ahead.abandon()
            try truncate(staged, to: 0)
            return try receive(
                tree.link.ask(question(for: file, tree.locator, isWhole: true)), file, to: staged)
        } catch is ReceivedContent.TooManyZeros {
            throw Unstageable.failed(
                Problem(path: file.path, code: .unsupported, message: "it has more holes than it began with"))
        }
    }

    private func receive(
        _ answer: RemoteLink.Answer, _ file: File, to staged: borrowing ObjectHandle
    ) throws -> File {
        do {
            var copy = ReceivedContent(
                isDelta: answer.isDelta,
                mostHoles: tree.isEarlier ? .max : options.digests == .none ? nil : options.mostHoles)
            let older = answer.isDelta ? places(for: file).compactMap { $0.open() } : []
            var base = DeltaBase(older, seed: seed)
            var end: [UInt8] = []
            while true {
                switch try answer.next(monitor) {
                case .file(let frame):
                    try tree.link.reading { try copy.begin(frame) }
                    if copy.attempt > 1 { try truncate(staged, to: 0) }
                    try calling("read", staged.path) { () throws(Errno) in
                        try base.begin(staged.descriptor, keepsHoles: options.attributes.contains(.holes))
                    }
                case .blocks(let frame):
                    try compare(frame, base, &copy, staged, answer)
                case .data(let frame):
                    try take(frame, base, &copy, staged)
                case .end(let piece, let isLast):
                    end += piece
                    if isLast { return try finish(end, &copy, file, staged) }
                case .entries, .failure: throw RemoteLink.Answer.otherKind
                }
                try monitor.checkCancellation()
                try tree.link.check()
            }
        } catch {
            answer.abandon()
            try monitor.checkCancellation()
            try tree.link.check()
            throw error
        }
    }

    private func compare(
        _ frame: FrameReader, _ base: borrowing DeltaBase, _ copy: inout ReceivedContent,
        _ staged: borrowing ObjectHandle, _ answer: RemoteLink.Answer
    ) throws {
        let position = copy.position
        let blocks = try tree.link.reading { try copy.take(blocks: frame) }
        do {
            try answer.respond(isWanted: true) { frame in
                try base.compare(blocks, after: position, in: staged.descriptor, to: &frame)
            }
        } catch let error as Errno {
            throw SystemError("write", staged.path, error)
        }
        advanced(Int(blocks.length))
    }

    private func take(
        _ frame: FrameReader, _ base: borrowing DeltaBase, _ copy: inout ReceivedContent,
        _ staged: borrowing ObjectHandle
    ) throws {
        let position = copy.position
        switch try tree.link.reading({ try copy.take(frame) { isCancelled } }) {
        case .data(let offset, let data):
            try calling("write", staged.path) { () throws(Errno) in
                if position < offset { try base.makeHole(position..<offset, in: staged.descriptor) }
                try staged.descriptor.write(data, at: offset)
            }
            // Bytes of compared blocks are reported already.
            if copy.position > position { advanced(data.count) }
            options.limit?.wait(for: data.count) { isCancelled }
        case .end(let blocks):
            for range in blocks.ranges {
                let data = try calling("read", staged.path) { () throws(Errno) in
                    try staged.descriptor.bytes(in: range)
                }
                try copy.add(data[...], at: range.lowerBound) { isCancelled }
            }
        }
    }

    private func finish(
        _ end: [UInt8], _ copy: inout ReceivedContent, _ file: File, _ staged: borrowing ObjectHandle
    ) throws -> File {
        let result = try tree.link.reading {
            try copy.end(end, file, options.extended, options.probes) { isCancelled }
        }
        // A clone may be longer than the new file, and its rest is not a hole.
        if copy.isDelta { try truncate(staged, to: copy.position) }
        if copy.endsWithHole { try truncate(staged, to: result.size.rawCount) }
        return tree.isEarlier ? try asListed(result, file) : result
    }

    private func truncate(_ staged: borrowing ObjectHandle, to size: Int64) throws(SystemError) {
        try calling("write", staged.path) { () throws(Errno) in try staged.descriptor.truncate(to: size) }
    }

    /// Checks that the content is that of the list. The list also has the attributes.
    private func asListed(_ copy: File, _ file: File) throws -> File {
        guard !copy.isGrowing, copy.status.equals(file.status, in: .content) else {
            throw Unstageable.failed(.lost(file.path, at: file.path))
        }
        guard file.digest == nil || copy.digest == file.digest else {
            throw Unstageable.failed(.damaged(file.path, at: "what the other machine has"))
        }
        return file
    }
}
