import FoundationEssentials

/// A type whose values live in a file of their own.
public protocol FileBacked {
    /// The file's name where nobody gives another: a single component.
    static var fileName: String { get }
    /// What the file's bytes stand for: UTF-8 unless the type says otherwise.
    static var encoding: String.Encoding { get }
}

extension FileBacked {
    public static var encoding: String.Encoding { .utf8 }
}
