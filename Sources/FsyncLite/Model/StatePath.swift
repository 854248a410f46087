import FileSystem

extension FileName {
    /// The name of the state at the root of a target; never part of a tree.
    package static let state = FileName(".fsync-lite")
}

extension RelativePath {
    /// Where displaced objects are held, below the target's root.
    static let history = RelativePath.root.appending(FileName.state).appending(FileName("history"))

    /// Of what is made anew: nothing is there.
    static let lost = history.appending(FileName("none")).appending(FileName("lost"))

    /// A place in the history where nothing is: what it would hold is lost.
    var isLost: Bool {
        relative(to: .history)?.components.dropFirst().first?.elementsEqual("lost".utf8) ?? false
    }

    /// The path is the state's: no part of the tree.
    var isInState: Bool {
        var components = bytes.split(separator: UInt8(ascii: "/"), maxSplits: 1).makeIterator()
        return components.next()?.elementsEqual(FileName.state.bytes) ?? false
    }
}
