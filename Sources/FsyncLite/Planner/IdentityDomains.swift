import FileSystem

/// The present and recorded sources on one file system, where equal inodes and birth times mean one object.
struct IdentityDomains: Sendable {
    /// The file system of each source, by its name. A single source has the empty name.
    private var present: [ArraySlice<UInt8>: DeviceNumber] = [:]
    /// The file systems of the recorded sources that are on that of a present one.
    private var recorded: [ArraySlice<UInt8>: DeviceNumber] = [:]

    /// - Parameter devices: those of `sources`.
    init(
        _ sources: [ManifestHeader.Source], on devices: [DeviceNumber], recorded: [ManifestHeader.Source]
    ) {
        func key(_ source: ManifestHeader.Source) -> ArraySlice<UInt8> {
            Array((source.name ?? "").utf8)[...]
        }
        for (source, device) in zip(sources, devices) { present[key(source)] = device }
        for last in recorded {
            let alike = sources.filter { $0.fileSystem == last.fileSystem }
            // Some file systems get another number at each mount. A copy of one has the same number.
            if let same = sources.first(where: { $0.name == last.name }),
                same.fileSystem == last.fileSystem || same.identity == last.identity
            {
                self.recorded[key(last)] = present[key(same)]
            } else if let first = alike.first, alike.allSatisfy({ present[key($0)] == present[key(first)] }) {
                self.recorded[key(last)] = present[key(first)]
            }
        }
    }

    /// No source is comparable.
    var isEmpty: Bool { recorded.isEmpty }

    /// - Parameters:
    ///   - source: the path of an entry of the present sources.
    ///   - target: the path of an object of the target.
    func mayBeSame(_ source: RelativePath, _ target: RelativePath) -> Bool {
        func domain(
            _ path: RelativePath, _ domains: [ArraySlice<UInt8>: DeviceNumber]
        ) -> DeviceNumber? { domains[[]] ?? domains[path.firstComponent] }
        guard let now = domain(source, present) else { return false }
        return now == domain(target, recorded)
    }
}
