/// What a target's `.fsync-lite/settings.json` or `settings.plist` says. Whatever is left out has its default elsewhere.
public struct Settings: Codable, Hashable, Sendable, FileReadable, FileWritable {
    public static let fileName = "settings.json"
    /// In bytes: far more than settings need.
    public static var sizeLimit: Int { 1 << 20 }

    /// `keep_last`: how many applies can be undone, zero or more. nil for the default.
    public var keepLast: Int?
    /// `defaults`: options for each run on this target, by their keys.
    public var defaults: SettingValues?

    public init(keepLast: Int? = nil) {
        self.keepLast = keepLast
    }

    private enum CodingKeys: CodingKey, CaseIterable {
        case keepLast, defaults
    }

    /// - Throws: for a key that is unknown, and a value that does not fit its key.
    public init(from decoder: any Decoder) throws {
        try JSONDocument.refuseUnknownKeys(in: decoder, knowing: CodingKeys.allCases)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        do {
            keepLast = try values.decodeIfPresent(Int.self, forKey: .keepLast)
        } catch  where !(error is DecodingError) {
            // For a fraction, or a number beyond `Int`, the decoder tells neither key nor cause.
            throw Settings.mismatch("The number is not whole, or too large.", values)
        }
        defaults = try values.decodeIfPresent(SettingValues.self, forKey: .defaults)
        if let keepLast, keepLast < 0 { throw Settings.mismatch("\(keepLast) is less than zero.", values) }
    }

    private static func mismatch(
        _ cause: String, _ values: KeyedDecodingContainer<CodingKeys>
    ) -> DecodingError {
        .dataCorruptedError(forKey: .keepLast, in: values, debugDescription: cause)
    }
}
