import FileSystem

/// Computes missing digests of unchanged files, only where source and target agree: otherwise a damaged copy would
/// become the reference for the other.
final class MissingDigests {
    private let source: DigestReader
    private let target: DigestReader
    /// When the scan began: changes in the target since then were not compared.
    private let scanned: FileTime
    private var without: [(path: RelativePath, reason: String)] = []

    init(source: Directory, target: Directory, scanned: FileTime, monitor: any Monitor) {
        self.source = DigestReader(source, monitor: monitor)
        self.target = DigestReader(target, monitor: monitor)
        self.scanned = scanned
    }

    /// - Parameters:
    ///   - path: the entry's new path.
    ///   - location: the present path of its object.
    ///   - inode: the object that the entry describes.
    func digest(of path: RelativePath, at location: RelativePath, inode: UInt64) throws -> Digest? {
        do {
            guard let (digest, status) = try target.digest(of: location), status.inode == inode,
                status.changed < scanned
            else {
                without.append((path, "it is being changed in the target"))
                return nil
            }
            // A file only in the target, when nothing is deleted, has no counterpart to disagree with.
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

    /// A note about the files that stay without a digest; nil if there are none.
    var note: String? {
        guard let (path, reason) = without.first else { return nil }
        let others = without.count > 1 ? ", and of \(without.count - 1) more" : ""
        return "no digest is recorded of \(path): \(reason)\(others)"
    }
}
