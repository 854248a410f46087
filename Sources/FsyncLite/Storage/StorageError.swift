/// What a storage could not do, with which key, and why.
public enum StorageError: Error, Sendable, CustomStringConvertible {
    /// Nothing is stored under the key. Only a certain answer counts: a key that could not be looked for is
    /// `cannotRead`.
    case notFound(_ key: String)
    /// There may be something, but it cannot be had.
    case cannotRead(_ key: String, cause: any Error)
    /// What was stored under the key is what it was before.
    case cannotWrite(_ key: String, cause: any Error)
    /// No storage takes such a key.
    case invalidKey(_ key: String)
    /// What is stored is not the value that was expected.
    case cannotDecode(_ key: String, cause: any Error)
    /// The storage cannot say which keys it has.
    case cannotList(cause: any Error)

    public var description: String {
        switch self {
        case .notFound(let key): "\(escapedText(key.utf8)): nothing is stored under this key"
        case .cannotRead(let key, let cause): "\(escapedText(key.utf8)): cannot be read: \(cause)"
        case .cannotWrite(let key, let cause): "\(escapedText(key.utf8)): cannot be written: \(cause)"
        case .invalidKey(let key): "\"\(escapedText(key.utf8))\" is no key"
        case .cannotDecode(let key, let cause): "\(escapedText(key.utf8)): is not what it should be: \(cause)"
        case .cannotList(let cause): "the stored keys cannot be listed: \(cause)"
        }
    }
}
