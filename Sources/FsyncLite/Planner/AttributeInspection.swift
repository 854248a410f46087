import FileSystem

/// Reads the extended attributes of entries whose recorded ones may be outdated.
final class AttributeInspection {
    private let source: any SourceReader
    private let target: PathResolver
    private let selection: ExtendedAttributes.Selection
    private let sees: SourceFacts
    /// Entries whose attributes in the source cannot be read. The target's attributes are left unchanged.
    private(set) var unread: Set<RelativePath> = []

    init(
        source: any SourceTree, target: Directory, _ selection: ExtendedAttributes.Selection,
        _ monitor: any Monitor
    ) {
        self.source = source.reader(monitor)
        self.target = PathResolver(target)
        self.selection = selection
        sees = source.facts
    }

    /// Announces matches that are looked at next, in this order.
    func announce(_ matches: [Match]) {
        source.announce(attributesOf: matches.map(\.source), selection)
    }

    func attributes(
        of file: File, and other: File
    ) throws -> (source: ExtendedAttributes, target: ExtendedAttributes) {
        let there = try target.extendedAttributes(of: other, .readable) ?? ExtendedAttributes()
        let found: ExtendedAttributes
        do {
            // If the entry has vanished from the source, the next run will notice.
            found = try source.extendedAttributes(of: file, selection) ?? there
        } catch let error as SystemError where !Errno.exhausted.contains(error.errno) {
            unread.insert(file.path)
            return (there, there)
        }
        return (sees.completing(found, by: there), there)
    }

    /// The attributes of an entry that only the target has.
    func attributes(ofTarget file: File) throws -> ExtendedAttributes {
        try target.extendedAttributes(of: file, .readable) ?? file.extended
    }
}
