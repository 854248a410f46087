import FileSystem
public struct SyncError: Error, Sendable {
    public struct Code: RawRepresentable, Hashable, Sendable { public let rawValue: String; public init(rawValue: String) { self.rawValue = rawValue }
        public static let failed = Code(rawValue: "failed"); public static let refused = Code(rawValue: "refused"); public static let pending = Code(rawValue: "pending")
        public static let invalidDocument = Code(rawValue: "invalid_document"); public static let inputMissing = Code(rawValue: "input_missing"); public static let locked = Code(rawValue: "locked") }
    public let code: Code; public let path: [UInt8]?; public let message: String; public let errno: Int32?
    public init(_ code: Code, path: [UInt8]? = nil, _ message: String, errno: Int32? = nil) { self.code = code; self.path = path; self.message = message; self.errno = errno }
    package init(_ error: SystemError, code: Code = .failed) { self.init(code, path: error.path, error.errno.description, errno: error.errno.rawValue) }
}
