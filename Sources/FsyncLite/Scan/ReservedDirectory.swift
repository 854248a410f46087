import FileSystem

extension FileName {
    /// The name of the state directory beside a tree; nil if it would be too long.
    ///
    /// - Parameter suffix: for another reserved directory beside that tree.
    static func state(beside tree: FileName, suffix: String = "") -> FileName? {
        let name = Array(".".utf8) + tree.bytes + FileName.state.bytes + suffix.utf8
        return name.count <= 255 ? FileName(name) : nil
    }
}

extension FileName {
    /// Whether it is the name of a state, in a target or beside it, or of the directory for its other trees.
    var isReserved: Bool { FileName.isReserved(bytes) }

    /// The tree beside which a directory of this name would be a state, or the directory for its other trees.
    var treeOfState: FileName? {
        let suffix = ["-trees", ""].map { FileName.state.bytes + $0.utf8 }.first {
            bytes.suffix($0.count).elementsEqual($0)
        }
        return suffix.flatMap { FileName(bytes.dropFirst().dropLast($0.count)) }
    }

    static func isReserved(_ name: ArraySlice<UInt8>) -> Bool {
        guard name.first == UInt8(ascii: "."), name.count >= FileName.state.bytes.count else { return false }
        return name.elementsEqual(FileName.state.bytes)
            || ["", "-trees"].contains { suffix in
                name.suffix(FileName.state.bytes.count + suffix.utf8.count)
                    .elementsEqual(FileName.state.bytes + suffix.utf8)
            }
    }

    /// The same for a file system that treats other spellings as this name.
    static func isReservedWhenFolded(_ name: ArraySlice<UInt8>) -> Bool {
        isReserved(name)
            || String(validating: name, as: UTF8.self).map { isReserved(Array($0.foldedName.utf8)[...]) }
                ?? false
    }
}

extension String {
    /// The form in which file systems that ignore case compare names. They skip invisible code points. Uppercase is
    /// first, because it folds ß and SS, as Unicode's full case folding does.
    var foldedName: String {
        let shown = unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
        return String(String.UnicodeScalarView(shown)).uppercased().lowercased()
    }
}

extension Directory {
    /// The state directory if it is beside this one. Paths that begin with its name are resolved there.
    func reservedDirectoryBeside() throws(SystemError) -> Directory? {
        guard try status(of: FileName.state) == nil, let location = try location(),
            let name = FileName.state(beside: location.name),
            try location.parent.status(of: name)?.type == .directory
        else { return nil }
        return try location.parent.directory(name)
    }
}

extension Directory {
    /// Makes a directory of a tree.
    func makeMirrored(_ name: FileName) throws {
        try makeDirectory(name)
        if name.isReserved { try markAsMirrored(name) }
    }

    /// Whether it is the root of a target. A directory with the name of a state is ignored if a mirror made it. It is
    /// also ignored if another user put it into a directory of somebody else.
    func isTarget() throws -> Bool {
        if try holdsState(.state, of: status()) { return true }
        guard let (parent, name) = try location(), let beside = FileName.state(beside: name) else {
            return false
        }
        return try parent.holdsState(beside, of: status())
    }

    /// - Parameter root: the status of the directory to which the state would belong.
    private func holdsState(_ name: FileName, of root: FileStatus) throws -> Bool {
        guard let status = try status(of: name), status.type == .directory,
            [Account.effectiveUser, 0, root.owner].contains(status.owner)
        else { return false }
        do throws(SystemError) {
            return try directory(name).stateMark() != .mirrored
        } catch {
            // A state of another user cannot be opened.
            guard error.errno == .accessDenied else { throw error }
            return true
        }
    }

    /// Whether it has a state of this user with a mark.
    func holdsMarkedState(_ name: FileName) throws(SystemError) -> Bool {
        guard let status = try status(of: name), status.type == .directory, status.isOwn else {
            return false
        }
        return try directory(name).stateMark() == .state
    }

    /// The target whose tree contains this directory; nil if there is none.
    func enclosingTarget() throws -> [UInt8]? {
        var current = self
        while let (parent, _) = try current.location() {
            if try parent.isTarget() { return parent.path }
            current = parent
        }
        return nil
    }

    /// Whether it has a reserved name, or is below a directory with such a name.
    func liesInState() throws -> Bool {
        var current = self
        while let (parent, name) = try current.location() {
            if name.isReserved { return true }
            current = parent
        }
        return false
    }
}
