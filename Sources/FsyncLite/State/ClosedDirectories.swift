import FileSystem

/// Directories of a target that this user owns but may not read, made accessible. The plan sets their final mode.
final class ClosedDirectories {
    private let root: Directory
    private var opened: [(path: RelativePath, permissions: UInt16)] = []

    init(in root: Directory) throws {
        self.root = root
        guard !Account.isRoot else { return }
        // Inner ones are visible only when the outer ones are open.
        do {
            while try openAll() {}
        } catch {
            try close(after: error)
        }
    }

    /// Opens the visible ones. Returns false if there are none.
    private func openAll() throws -> Bool {
        let before = opened.count
        let scan = try TreeScan(root, TreeScan.Options(toleratesUnreadable: true, stopsAtMounts: true))
        let resolver = PathResolver(root)
        while try scan.advance() {
            let status = scan.status
            guard ClosedDirectories.isClosed(status),
                let (directory, name) = try resolver.location(of: scan.path)
            else { continue }
            try ObjectHandle(name, in: directory).setPermissions(status.permissions | 0o700)
            opened.append((scan.path, status.permissions))
        }
        return opened.count > before
    }

    /// The original permissions.
    var permissions: [RelativePath: UInt16] {
        Dictionary(opened.map { ($0.path, $0.permissions) }, uniquingKeysWith: { first, _ in first })
    }

    /// The first directory that would be opened; nil if there is none.
    static func first(in root: Directory) throws -> RelativePath? {
        guard !Account.isRoot else { return nil }
        let scan = try TreeScan(root, TreeScan.Options(toleratesUnreadable: true, stopsAtMounts: true))
        while try scan.advance() { if isClosed(scan.status) { return scan.path } }
        return nil
    }

    private static func isClosed(_ status: FileStatus) -> Bool {
        status.type == .directory && status.permissions & 0o500 != 0o500 && status.isOwn
    }

    /// Restores the permissions, inner directories first, and as many as can be.
    ///
    /// - Parameter error: what ended the run.
    /// - Throws: that error, or else the first one of its own.
    func close(after error: (any Error)? = nil) throws {
        var first = error
        let resolver = PathResolver(root)
        while let (path, permissions) = opened.popLast() {
            do {
                guard let (directory, name) = try resolver.location(of: path) else { continue }
                try ObjectHandle(name, in: directory).setPermissions(permissions)
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
    }
}
