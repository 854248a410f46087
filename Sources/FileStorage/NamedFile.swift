/// A type with a file name.
///
/// The extension begins at the last dot that has any character after it, and before it one that is not a dot. So
/// `nameWithoutExtension` plus `extension` is always the name.
public protocol NamedFile {
    /// The last component of the path.
    var name: String { get }
}

extension NamedFile {
    /// With its dot: `.gz` for `a.tar.gz`; empty for `Makefile`, `.bashrc` and `a.`.
    public var `extension`: String { String(name.unicodeScalars[extensionStart...]) }

    /// Without its dot: `gz` for `a.tar.gz`; empty if there is none.
    public var extensionWithoutDot: String { String(name.unicodeScalars[extensionStart...].dropFirst()) }

    /// `a.tar` for `a.tar.gz`.
    public var nameWithoutExtension: String { String(name.unicodeScalars[..<extensionStart]) }

    /// Searched by scalars: in `String`, a dot with a combining accent is one character and not a dot.
    private var extensionStart: String.Index {
        let scalars = name.unicodeScalars
        guard let dot = scalars.lastIndex(of: "."), scalars.index(after: dot) != scalars.endIndex,
            scalars[..<dot].contains(where: { $0 != "." })
        else { return scalars.endIndex }
        return dot
    }
}
