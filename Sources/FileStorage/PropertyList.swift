import FoundationEssentials

/// Property lists, by way of JSON: a date is text there, data is base64.
enum PropertyList {
    static func tree(of propertyList: [UInt8], _ lines: SourceMap) throws(SyncError) -> JSONTree {
        do {
            let value = try PropertyListDecoder().decode(SettingValue.self, from: Data(propertyList))
            return try JSONDocument.tree(of: value, keys: .asDeclared)
        } catch {
            throw SyncError(.invalidDocument, JSONDocument.describe(error, .asDeclared, lines))
        }
    }

    /// - Throws: if a property list cannot hold a value, such as null.
    static func data(of json: Data, isBinary: Bool) throws(SyncError) -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = isBinary ? .binary : .xml
        do {
            return try encoder.encode(JSONDecoder().decode(SettingValue.self, from: json))
        } catch {
            throw SyncError(.failed, JSONDocument.describe(error, .asDeclared))
        }
    }
}
