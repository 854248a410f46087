import FileSystem

/// The entries of a tree that the target's file system can store. If that cannot store the mark of a state, it leaves
/// out entries with the name of a state, which would look like one.
final class StorableEntries: AnyEntries {
    private let holder: FileSystemCapabilities?
    private let keepsMarks: Bool
    private let left: LeftOutEntries
    /// A directory that is left out with its content.
    private var leftDirectory: RelativePath?

    /// - Parameter holder: nil for a complete file system.
    init(
        _ base: any EntryStream, in holder: FileSystemCapabilities?, keepsMarks: Bool,
        noting left: LeftOutEntries
    ) {
        (self.holder, self.keepsMarks, self.left) = (holder, keepsMarks, left)
        super.init(base)
    }

    override func advance() throws -> Bool {
        while try base.advance() {
            if let leftDirectory, base.path.isBelow(leftDirectory) { continue }
            // An excluded directory is not entered. It is yielded, because its recorded entry may need its status.
            if base.exclusion == .byRule || base.sight == .unseen { return true }
            let type = base.status.type
            let name = base.path.lastComponent
            switch lack(for: name, type) {
            case nil: return true
            case .state: left.problems.append(.reserved(base.path))
            case .kind: left.kinds[type, default: 0] += 1
            case .particular(let reason):
                left.problems.append(Problem(path: base.path, code: .unsupported, message: reason))
            }
            if type == .directory { leftDirectory = base.path }
        }
        return false
    }

    private func lack(for name: ArraySlice<UInt8>, _ type: FileType) -> FileSystemCapabilities.Lack? {
        if !keepsMarks, FileName.isReservedWhenFolded(name) { return .state }
        return holder?.lack(for: name, type, base.destination)
    }
}

/// The entries that `StorableEntries` leaves out.
final class LeftOutEntries {
    fileprivate(set) var kinds: [FileType: Int] = [:]
    fileprivate(set) var problems: [Problem] = []
}

extension FileSystemCapabilities {
    /// The reason why an entry cannot be stored.
    enum Lack {
        /// The file system cannot store any entry of its type.
        case kind
        /// It would look like a state.
        case state
        /// This entry cannot be stored, for the given reason.
        case particular(String)
    }

    /// nil if the entry can be stored.
    func lack(for name: ArraySlice<UInt8>, _ type: FileType, _ destination: @autoclosure () -> [UInt8])
        -> Lack?
    {
        let feature: Features? =
            switch type {
            case .symlink: .symlinks
            case .fifo: .fifos
            case .characterDevice, .blockDevice: .devices
            case .file, .directory, .socket: nil
            }
        if let feature, !stored.contains(feature) { return .kind }
        if type == .symlink, names.mustBeUTF8, String(validating: destination(), as: UTF8.self) == nil {
            return .particular("\(self.name) stores only symlinks in UTF-8")
        }
        if type == .symlink, !stored.contains(.outwardSymlinks) {
            let destination = destination()
            let parts = destination.split(separator: UInt8(ascii: "/"))
            if destination.first == UInt8(ascii: "/")
                || parts.contains(where: { $0.elementsEqual("..".utf8) })
            {
                return .particular("\(self.name) cannot store a symlink to \(escapedText(destination))")
            }
        }
        return names.fault(of: name).map { .particular("\(self.name) \($0)") }
    }
}
