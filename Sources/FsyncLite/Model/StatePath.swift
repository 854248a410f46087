import FileSystem

extension FileName {
    /// The name of the state in the root of a target; never part of a tree.
    package static let state = FileName(".fsync-lite")
    /// The directory of a file system for itself.
    static let lostAndFound = FileName("lost+found")
}

extension RelativePath {
    private static let state = root.appending(FileName.state)

    /// The location of displaced objects, below the target's root.
    static let history = state.appending(FileName("history"))

    /// A location that never exists, for an object that is created anew.
    static let lost = history.appending(FileName("none")).appending(FileName("lost"))

    /// A location in the history that never exists: the object is lost.
    var isLost: Bool {
        guard isBelow(.history) else { return false }
        let name = bytes.dropFirst(RelativePath.history.bytes.count + 1).drop { $0 != separator }
            .dropFirst().prefix { $0 != separator }
        return name.elementsEqual("lost".utf8)
    }

    /// The path is in the state, not in the tree.
    var isInState: Bool { self == .state || isBelow(.state) }

    /// The path is in a displaced directory, and not that directory.
    var isInSlot: Bool {
        isBelow(.history) && bytes.count { $0 == separator } > RelativePath.slotDepth
    }

    /// The separators in the path of a slot: `.fsync-lite/history/TX/0/12`.
    private static let slotDepth = 4
}
