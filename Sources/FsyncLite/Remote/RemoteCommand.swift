import FileSystem

/// A command that another machine runs on a target there, with the client's command line and settings.
package struct RemoteCommand: Hashable, Sendable {
    /// An option of settings, and its values. A flag has no values; one that is turned off has nil.
    package struct Option: Hashable, Sendable {
        package let name: String
        package let values: [[UInt8]]?

        package init(_ name: String, _ values: [[UInt8]]?) {
            (self.name, self.values) = (name, values)
        }
    }

    /// A standard stream of the client.
    package struct Terminal: Hashable, Sendable {
        package var isTerminal: Bool
        package var understandsEscapes: Bool
        package var columns: Int?

        package init(_ stream: StandardStream) {
            (isTerminal, understandsEscapes) = (stream.isTerminal, stream.understandsEscapes)
            columns = stream.columns
        }

        fileprivate init(_ reader: inout FrameReader) throws(WireError) {
            (isTerminal, understandsEscapes) = (try reader.flag(), try reader.flag())
            let columns = try reader.number(UInt32.self, upTo: 65_535)
            self.columns = columns > 0 ? Int(columns) : nil
        }

        fileprivate func write(to frame: inout FrameWriter) {
            frame.flag(isTerminal)
            frame.flag(understandsEscapes)
            frame.number(UInt32(clamping: columns ?? 0))
        }
    }

    /// The file or stream of the client that receives output.
    package enum Stream: UInt8, CaseIterable, Sendable {
        case output = 1
        case errors
        /// The log file that the client named.
        case log
        /// The saved plan or the report that the client wants.
        case document
    }

    /// The words of the command's name.
    package var name: String
    /// The arguments as typed, with the target as `host:path`.
    package var arguments: [[UInt8]]
    /// The options, each as one word, in the order given. The client has read the files that they name.
    package var options: [[UInt8]]
    /// The words of the command line as typed, for hints.
    package var typed: [[UInt8]]
    /// The `defaults` of the client's settings, then its job.
    package var defaults: [Option]
    package var job: (name: String, options: [Option])? {
        get { jobName.map { ($0, jobOptions) } }
        set { (jobName, jobOptions) = (newValue?.name, newValue?.options ?? []) }
    }
    private var jobName: String?
    private var jobOptions: [Option] = []
    /// The source, with absolute paths; nil if there is none.
    package var source: MirrorSource?
    /// The saved plan to run; nil if there is none.
    package var document: [UInt8]?
    /// The client wants the report as a document.
    package var wantsReport = false
    /// The name of the client's machine.
    package var host: String
    package var output: Terminal
    package var errors: Terminal

    package init(
        _ name: String, _ arguments: [[UInt8]], options: [[UInt8]], typed: [[UInt8]],
        defaults: [Option], host: String, output: Terminal, errors: Terminal
    ) {
        (self.name, self.arguments, self.options, self.typed) = (name, arguments, options, typed)
        (self.defaults, self.host, self.output, self.errors) = (defaults, host, output, errors)
    }
}

extension RemoteCommand {
    /// The source as the client names it: a single one by its argument, several by their names.
    package func source(named argument: [UInt8]) -> MirrorSource {
        guard case .named(let paths)? = source else { return .directory(argument) }
        return .named(paths)
    }

    /// The most directories of a source.
    package static let mostSources = WireFormat.sources

    /// The most arguments, and the most options of each kind.
    private static let limit: UInt32 = 1 << 20

    /// The frames that send the command.
    func frames() -> [FrameWriter] {
        var content = FrameWriter(.run)
        content.text(name)
        for words in [arguments, options, typed] { content.array(words) { $0.bytes($1) } }
        for options in [defaults, jobOptions] {
            content.array(options) { content, option in
                content.text(option.name)
                content.flag(option.values != nil)
                content.array(option.values ?? []) { $0.bytes($1) }
            }
        }
        content.flag(jobName != nil)
        if let jobName { content.text(jobName) }
        content.array(source?.directories ?? []) { content, directory in
            content.text(directory.name ?? "")
            content.bytes(directory.path)
        }
        content.flag(document != nil)
        if let document { content.bytes(document) }
        content.flag(wantsReport)
        content.text(host)
        output.write(to: &content)
        errors.write(to: &content)
        var frames: [FrameWriter] = []
        content.bytes.dropFirst(WireFormat.headSize).forEachPiece { piece, isLast in
            var frame = FrameWriter(.run)
            frame.flag(isLast)
            frame.raw(piece)
            frames.append(frame)
        }
        return frames
    }

    /// Reads the command that a client sent. Its first frame has come.
    init(_ welcome: inout Welcome) throws {
        var (bytes, frame) = ([UInt8](), welcome.first)
        while true {
            guard frame.type == .run else { throw WireError("another frame within a command") }
            var reader = FrameReader(frame.payload)
            let isLast = try reader.flag()
            let piece = reader.rest()
            bytes += piece
            guard isLast || !piece.isEmpty, bytes.count <= WireFormat.longestAnswer else {
                throw WireError("a command is too long, or has an empty piece")
            }
            if isLast { break }
            frame = try welcome.next()
        }
        try self.init(FrameReader(bytes))
    }

    init(_ content: FrameReader) throws(WireError) {
        var reader = content
        (name, arguments) = (try reader.text(), try RemoteCommand.words(&reader))
        (options, typed) = (try RemoteCommand.words(&reader), try RemoteCommand.words(&reader))
        defaults = try RemoteCommand.options(&reader)
        jobOptions = try RemoteCommand.options(&reader)
        if try reader.flag() { jobName = try reader.text() }
        guard jobName != nil || jobOptions.isEmpty else { throw WireError("options of no job") }
        let sources = try reader.sources { (name, path, _) throws(WireError) in (name, path) }
        if let first = sources.first {
            source =
                first.0 == nil
                ? .directory(first.1)
                : .named(Dictionary(uniqueKeysWithValues: sources.map { ($0.0 ?? "", $0.1) }))
        }
        if try reader.flag() { document = try reader.bytes(upTo: WireFormat.longestAnswer) }
        wantsReport = try reader.flag()
        host = try reader.text()
        output = try Terminal(&reader)
        errors = try Terminal(&reader)
        try reader.end()
    }

    private static func words(_ reader: inout FrameReader) throws(WireError) -> [[UInt8]] {
        try reader.array(upTo: limit) { (reader) throws(WireError) in try reader.word() }
    }

    private static func options(_ reader: inout FrameReader) throws(WireError) -> [Option] {
        try reader.array(upTo: limit) { (reader) throws(WireError) in
            let name = try reader.text()
            let isOn = try reader.flag()
            let values = try words(&reader)
            guard isOn || values.isEmpty else { throw WireError("values of what is off") }
            return Option(name, isOn ? values : nil)
        }
    }
}

extension FrameReader {
    /// Reads an argument of a command line.
    fileprivate mutating func word() throws(WireError) -> [UInt8] {
        let bytes = try bytes(upTo: WireFormat.longestPath)
        guard !bytes.contains(0) else { throw WireError("a word has a NUL") }
        return bytes
    }
}
