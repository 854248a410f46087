import FileSystem

/// Totals and extremes of a tree.
package struct TreeStatistics: Sendable {
    /// nil for a live directory.
    package internal(set) var header: ManifestHeader?
    package private(set) var summary = ManifestSummary()
    /// Files with several names that were already counted.
    private var files: Set<FileIdentity> = []
    private var counts = [Int](repeating: 0, count: FileType.allCases.count)
    /// Number of entries at each depth, beginning with those in the root.
    package private(set) var levels: [Int] = []
    package private(set) var largest: Ranking
    package private(set) var newest: Ranking
    package private(set) var oldest: Ranking

    /// - Parameter limit: the maximum number of files in each list.
    init(limit: Int) {
        largest = Ranking(limit) { $0.size > $1.size }
        newest = Ranking(limit) { $0.modified > $1.modified }
        oldest = Ranking(limit) { $0.modified < $1.modified }
    }

    /// Number of entries of each type that occurs.
    package var types: [FileType: Int] {
        let matches = FileType.allCases.map { ($0, counts[Int($0.rawValue)]) }
        return Dictionary(uniqueKeysWithValues: matches.filter { $0.1 > 0 })
    }

    mutating func count(all entries: some EntryStream) throws {
        while try entries.advance() {
            let status = entries.status
            summary.count(status)
            // Another name of a file has no bytes of its own.
            if status.type == .file, status.links > 1, !files.insert(status.identity).inserted {
                summary.bytes = summary.bytes - status.size
            }
            counts[Int(status.type.rawValue)] += 1
            let depth = entries.path.depth(after: 0) - 1
            while levels.count <= depth { levels.append(0) }
            levels[depth] += 1
            guard status.type == .file else { continue }
            largest.offer(entries, status)
            newest.offer(entries, status)
            oldest.offer(entries, status)
        }
    }

    /// The first few files in some order, in constant memory. Among equal files the first one is used.
    package struct Ranking: Sendable {
        package private(set) var files: [File] = []
        private let limit: Int
        private let precedes: @Sendable (FileStatus, FileStatus) -> Bool

        fileprivate init(_ limit: Int, by precedes: @escaping @Sendable (FileStatus, FileStatus) -> Bool) {
            (self.limit, self.precedes) = (limit, precedes)
        }

        fileprivate mutating func offer(_ entry: some EntryStream, _ status: FileStatus) {
            if files.count == limit, limit == 0 || !precedes(status, files[limit - 1].status) { return }
            let index = files.firstIndex { precedes(status, $0.status) } ?? files.count
            files.insert(entry.file, at: index)
            if files.count > limit { files.removeLast() }
        }
    }
}

extension Tree {
    /// Reads the whole tree.
    ///
    /// - Parameter limit: the number of largest, newest and oldest files to list.
    package func statistics(limit: Int) throws -> TreeStatistics {
        let stream = try stream()
        var statistics = TreeStatistics(limit: limit)
        if let manifest = stream as? ManifestReader {
            // Called with the concrete type: otherwise each of a million entries costs dynamic dispatch.
            try statistics.count(all: manifest)
        } else {
            try statistics.count(all: stream)
        }
        statistics.header = try header(of: stream)
        return statistics
    }
}
