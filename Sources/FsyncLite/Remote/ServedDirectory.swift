import FileStorage
import FileSystem

/// The directory that `serve` is restricted to.
package struct ServedDirectory: Sendable {
    private let directory: Directory

    package init(_ path: [UInt8]) throws {
        directory = try LocalFile(bytes: LocalFile(bytes: path).absolute()).directory(
            "the directory to serve")
    }

    private func outside(_ path: [UInt8]) -> SyncError {
        SyncError(
            .notServed(
                "it is outside of the served directory \(escapedText(directory.path)); give a path relative to that"
            ),
            path: path)
    }

    /// Makes a path relative to the directory. It may lead through symlinks or bind mounts.
    private func relative(_ path: [UInt8]) throws -> [UInt8] {
        let slash = UInt8(ascii: "/")
        guard path.first == slash else { return path }
        for end in path.indices.dropFirst() + [path.count] where end == path.count || path[end] == slash {
            do throws(SystemError) {
                let way = try Directory.open(path: Array(path[..<end]), .pathOnly)
                guard try way.isSame(as: directory) else { continue }
            } catch {
                // Do not show whether a path outside of the directory exists.
                break
            }
            return Array(path[end...].drop { $0 == slash })
        }
        throw outside(path)
    }

    /// Opens a source, which may be the directory itself.
    func open(_ path: [UInt8]) throws -> Directory {
        let relative = try relative(path)
        do throws(SystemError) {
            return try directory.directory(beneath: relative.isEmpty ? Array(".".utf8) : relative)
        } catch {
            switch error.errno {
            case .noSuchFile, .notDirectory:
                throw SyncError(.inputMissing, path: path, "the source does not exist")
            case .crossDevice: throw outside(path)
            default: throw error
            }
        }
    }

    /// Confines this process to the directory, for a command on a target in it. The target cannot be the
    /// directory itself, because an exchange stores the state beside the target.
    ///
    /// - Returns: the path of the target from then on.
    package func confine(to path: [UInt8], isWriting: Bool) throws -> [UInt8] {
        let names = try relative(path).split(separator: UInt8(ascii: "/"))
            .filter { !$0.elementsEqual(".".utf8) }
        guard !names.isEmpty, names.allSatisfy({ FileName($0) != nil }) else {
            throw SyncError(
                .notServed(
                    "a target must be below the served directory \(escapedText(directory.path)), with a path without .."
                ), path: path)
        }
        guard try !isWriting || directory.keepsOthersOut() else {
            throw SyncError(.openServedDirectory, path: directory.path)
        }
        let inner = Array(names.joined(separator: [UInt8(ascii: "/")]))
        try checkHasNoSymlink(inner, path)
        try directory.confine()
        return inner
    }

    /// A later use of the path would fail as well, but without this reason.
    private func checkHasNoSymlink(_ inner: [UInt8], _ path: [UInt8]) throws {
        for follows in [true, false] {
            do throws(SystemError) {
                _ = try directory.directory(beneath: inner, followingSymlinks: follows)
            } catch {
                if error.errno == .crossDevice { throw outside(path) }
                guard error.errno == .tooManyLinks else { continue }
                throw SyncError(
                    .notServed("its path has a symlink, which a served target must not have"),
                    path: path)
            }
        }
    }
}
