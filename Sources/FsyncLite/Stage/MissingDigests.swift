import FileSystem

/// Finds the digests that the record lacks of files that stay: of content that source and target agree on, so that
/// what one of them has lost by then does not become what the other is judged by.
final class MissingDigests {
    private let source: DigestReader
    private let target: DigestReader
    /// When the scan began: what changed in the target since was not compared.
    private let scanned: FileTime
    private var without: [(path: RelativePath, reason: String)] = []

    init(source: Directory, target: Directory, scanned: FileTime, monitor: any Monitor) {
        self.source = DigestReader(source, monitor: monitor)
        self.target = DigestReader(target, monitor: monitor)
        self.scanned = scanned
    }

    /// - Parameters:
    ///   - path: where the entry will stand.
    ///   - place: the path of its object now.
    ///   - inode: the object that the entry is recorded of.
    func digest(of path: RelativePath, at location: RelativePath, inode: UInt64) throws -> Digest? {
        do {
            guard let (digest, status) = try target.digest(of: location), status.inode == inode,
                status.changed < scanned
            else {
                without.append((path, "somebody is changing it in the target"))
                return nil
            }
            // What only the target has, because nothing is deleted, has nothing to disagree with.
            if let own = try source.digest(of: path), own.digest != digest {
                without.append((path, "it differs from the source's; --checksum finds and repairs that"))
                return nil
            }
            return digest
        } catch let error as SystemError {
            without.append((path, "\(error.errno)"))
            return nil
        }
    }

    /// What to tell of the files that are left without; nil where there are none.
    var note: String? {
        guard let (path, reason) = without.first else { return nil }
        let others = without.count > 1 ? ", and of \(without.count - 1) more" : ""
        return "no digest is recorded of \(path): \(reason)\(others)"
    }
}
