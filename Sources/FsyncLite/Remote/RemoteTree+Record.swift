import FileSystem

// Scans in which the other end reports only the changes since the record.

extension RemoteTree {
    /// Gives the recorded entries as the source's, while the other end scans. At the end, the digests show
    /// whether the source is unchanged.
    ///
    /// - Returns: nil if the reader has closed the stream.
    /// - Throws: `SourceHasChanged` if the digests differ or are unknown.
    func readRecorded(
        _ answer: RemoteLink.Answer, _ digests: TreeDigests, _ record: SourceRecord,
        _ options: TreeScan.Options, _ monitor: any Monitor, _ push: (BackgroundScan.Batch) -> Bool
    ) throws -> TreeScan.Findings? {
        var tree = ReceivedTree(digests, on: roots[0].device)
        var isGiven = true
        var progress = SyncProgress(.scanning)
        do {
            let manifest = try record.open()
            var (batch, isOpen) = (BackgroundScan.Batch(), true)
            while try manifest.advance(), isOpen {
                let status = manifest.status
                let isKnown =
                    manifest.marks.isEmpty && manifest.omitted.isEmpty
                    && status.changed != .unexamined
                    && manifest.path.bytes.count <= RelativePath.longest
                    && (!record.needsDigests || status.type != .file || manifest.digest != nil)
                tree.digests.add(manifest, isKnown: isKnown)
                progress.entries += 1
                // Without this entry the digest of the root is unknown, so more entries would be useless.
                if !isKnown { isGiven = false }
                guard isGiven else { continue }
                batch.append(
                    manifest.path.bytes, tree.status(status), .whole, .none,
                    destination: manifest.destination)
                guard batch.isFull else { continue }
                try monitor.checkCancellation()
                if options.reportsProgress { monitor.report(progress) }
                isOpen = push(batch)
                batch = BackgroundScan.Batch()
            }
            guard isOpen, batch.isEmpty || !isGiven || push(batch) else {
                answer.abandon()
                return nil
            }
        } catch {
            answer.abandon()
            throw error
        }
        let root = tree.digests.finish()
        var reader = try answer.end(monitor)
        let found = try reader.directoryDigest()
        tree.findings = try reader.findings()
        let findings = tree.findings
        keep(tree)
        guard isGiven, root.isKnown, root == found else { throw SourceHasChanged() }
        return findings
    }

    /// Gives the entries that the other end reports, and the recorded entries of unchanged directories.
    ///
    /// - Returns: nil if the reader has closed the stream.
    func readChanged(
        _ begun: ReceivedTree, _ record: SourceRecord, _ options: TreeScan.Options, _ monitor: any Monitor,
        _ push: (BackgroundScan.Batch) -> Bool
    ) throws -> TreeScan.Findings? {
        var tree = begun
        // If little is known, a stream of all entries is faster. If much has changed, it needs less memory.
        var isTooLarge = tree.digests.count > 1000 && tree.digests.unknownCount > tree.digests.count / 2
        var asked = tree.first
        while !asked.isEmpty, !isTooLarge {
            asked = try ask(asked, &tree, monitor)
            isTooLarge = tree.isTooLarge
        }
        if !isTooLarge, tree.hasMoved {
            try tree.gather(record.open())
            isTooLarge = tree.isTooLarge
        }
        guard !isTooLarge else { return try read(askForAll(options), options, monitor, push) }
        var (findings, known): (TreeScan.Findings, Set<RelativePath>) = (tree.findings, [])
        findings.problems.removeAll { !known.insert($0.path).inserted }
        guard
            try tree.give(
                record.open(),
                { batch in
                    try monitor.checkCancellation()
                    return push(batch)
                })
        else { return nil }
        keep(tree)
        return findings
    }

    /// Asks for directories.
    ///
    /// - Parameter take: called with the entries, which are then not stored.
    /// - Returns: the directories to ask for next.
    private func ask(
        _ asked: [ReceivedTree.Asked], _ tree: inout ReceivedTree, _ monitor: any Monitor,
        _ take: ((RelativePath, FileStatus) -> Void)? = nil
    ) throws -> [ReceivedTree.Asked] {
        var following: [ReceivedTree.Asked] = []
        var rest = asked[...]
        while !rest.isEmpty {
            // Only a part of the requests that may be unanswered.
            var answers: [(RemoteLink.Answer, ArraySlice<ReceivedTree.Asked>)] = []
            do {
                while !rest.isEmpty, answers.count < WireFormat.openRequests / 16 {
                    let part = rest.prefix(WireFormat.batch)
                    rest = rest.dropFirst(part.count)
                    let answer = try link.ask(.list) { frame in
                        frame.array(part) { $1.list.write(to: &$0) }
                    }
                    answers.append((answer, part))
                }
                while let (answer, part) = answers.first {
                    try self.take(answer, part, &tree, &following, monitor, take)
                    answers.removeFirst()
                }
            } catch {
                for (answer, _) in answers { answer.abandon() }
                throw error
            }
        }
        return following
    }

    private func take(
        _ answer: RemoteLink.Answer, _ asked: ArraySlice<ReceivedTree.Asked>, _ tree: inout ReceivedTree,
        _ following: inout [ReceivedTree.Asked], _ monitor: any Monitor,
        _ take: ((RelativePath, FileStatus) -> Void)?
    ) throws {
        var asked = asked
        var end = try answer.end(monitor) { reader in
            while !reader.isAtEnd {
                guard let first = asked.first else { throw WireError("lists that were not asked for") }
                let item = try ListItem(&reader, after: tree.lastName, isAtTop: first.path.isRoot)
                if try tree.take(item, of: first, following: &following, take) { asked.removeFirst() }
            }
        }
        guard asked.isEmpty else { throw WireError("a list is missing") }
        tree.findings.problems += try end.findings().problems
    }

    func reread(
        _ directories: () -> Set<RelativePath>, _ take: (RelativePath, FileStatus) -> Void
    ) throws {
        guard var tree = takeReceived() else { return }
        defer { keep(tree) }
        var wanted = directories()
        try link.reading {
            while true {
                let asked = tree.next(for: &wanted)
                if asked.isEmpty { return }
                _ = try withoutActuallyEscaping(take) { try ask(asked, &tree, monitor, $0) }
            }
        }
    }
}
