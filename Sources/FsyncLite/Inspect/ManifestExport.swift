import FileSystem

extension Tree {
    /// Writes a manifest of the tree: the recorded one, or a new one of a live directory.
    ///
    /// - Returns: the problems of entries that could not be read and are left out.
    package func writeManifestAsRecorded(to sink: inout some ByteSink & ~Copyable) throws -> [Problem] {
        let version = try manifestVersion()
        let stream = try stream()
        guard isSnapshot || stream is ManifestReader else { return try writeManifest(to: &sink) }
        var header =
            try header(of: stream)
            ?? ManifestHeader(id: TransactionID.next(), root: path, created: .unknown)
        // In a snapshot, objects of the history have the inodes of the target.
        if isSnapshot {
            for index in header.sources.indices { header.sources[index].identity = .unknown }
            header.nextObject = nil
        }
        let isMirror = !header.sources.isEmpty
        var writer = ManifestWriter(header)
        while try stream.advance() {
            writer.append(stream, isMirror: isMirror)
            try writer.drain(to: &sink)
        }
        try checkManifest(is: version)
        writer.end()
        try writer.drain(to: &sink, all: true)
        return []
    }
}
