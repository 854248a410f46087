import FileSystem

extension FileName {
    /// The name of the state in the root of a target. It is never part of a tree.
    package static let state = FileName(".fsync-lite")
    /// A directory that the file system itself makes.
    static let lostAndFound = FileName("lost+found")
}

extension RelativePath {
    private static let state = root.appending(FileName.state)

    /// The directory of the history, below the target's root.
    static let history = state.appending(FileName("history"))

    /// A path that never exists, for an object that is created anew.
    static let lost = history.appending(FileName("none")).appending(FileName("lost"))

    /// Whether this is a path in the history that never exists, because the object is lost.
    var isLost: Bool {
        guard isBelow(.history) else { return false }
        let name = bytes.dropFirst(RelativePath.history.bytes.count + 1).drop { $0 != separator }
            .dropFirst().prefix { $0 != separator }
        return name.elementsEqual("lost".utf8)
    }

    /// Whether the path is in the state and not in the tree.
    var isInState: Bool { self == .state || isBelow(.state) }

    /// Whether the path is inside a directory that was moved into the history.
    var isInSlot: Bool {
        isBelow(.history) && bytes.count { $0 == separator } > RelativePath.slotDepth
    }

    /// The number of separators in the path of a slot: `.fsync-lite/history/TX/0/12`.
    private static let slotDepth = 4
}
