import FileSystem

extension FileName {
    /// The name of the state in the root of a target; never part of a tree.
    package static let state = FileName(".fsync-lite")
    /// The directory of a file system for itself.
    static let lostAndFound = FileName("lost+found")
}

extension RelativePath {
    /// The location of displaced objects, below the target's root.
    static let history = RelativePath.root.appending(FileName.state).appending(FileName("history"))

    /// A location that never exists, for an object that is created anew.
    static let lost = history.appending(FileName("none")).appending(FileName("lost"))

    /// A location in the history that never exists: the object is lost.
    var isLost: Bool {
        relative(to: .history)?.components.dropFirst().first?.elementsEqual("lost".utf8) ?? false
    }

    /// The path is in the state, not in the tree.
    var isInState: Bool {
        var components = bytes.split(separator: UInt8(ascii: "/"), maxSplits: 1).makeIterator()
        return components.next()?.elementsEqual(FileName.state.bytes) ?? false
    }

    /// The path is in a displaced directory, and not that directory.
    var isInSlot: Bool { relative(to: .history).map { $0.components.count > 3 } ?? false }
}
