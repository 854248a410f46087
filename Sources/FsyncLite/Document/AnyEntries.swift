import FileSystem

/// A stream of any type. Generic code for it is compiled only once. In return, each value costs one more call.
class AnyEntries: EntryStream {
    let base: any EntryStream

    init(_ base: any EntryStream) { self.base = base }

    func advance() throws -> Bool { try base.advance() }

    var path: RelativePath { base.path }
    var status: FileStatus { base.status }
    var destination: [UInt8] { base.destination }
    var extended: ExtendedAttributes { base.extended }
    var omitted: Omissions { base.omitted }
    var exclusion: Exclusion { base.exclusion }
    var sight: Sight { base.sight }
    var targetInode: UInt64 { base.targetInode }
    var targetChanged: FileTime? { base.targetChanged }
    var marks: EntryMarks { base.marks }
    var digest: Digest? { base.digest }
    var recorded: ManifestReader? { base.recorded }
    var object: UInt64 { base.object }
    var isPresent: Bool { base.isPresent }
    var file: File { base.file }

    func append(to writer: inout ManifestWriter) -> Bool { base.append(to: &writer) }

    func withPathBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        base.withPathBytes(body)
    }
}
