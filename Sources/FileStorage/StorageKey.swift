import FileSystem

/// Keys of a storage for any text. A plain name is its own key.
public enum StorageKey {
    /// The key of a text: `%`, and bytes that a key must not have, become `%HH`.
    public static func escaped(_ text: String) -> String {
        let key = percentEncoded(text.utf8) { ![0, UInt8(ascii: "/"), UInt8(ascii: "%")].contains($0) }
        guard (try? FileName(storageKey: key)) == nil else { return key }
        // A text that is still not a valid key begins with a dot, or is empty.
        return key.isEmpty ? "%" : "%2E" + key.dropFirst()
    }

    /// The text of a key; nil if `escaped` does not make this key.
    public static func text(of key: String) -> String? {
        if key == "%" { return "" }
        guard let text = String(validating: percentDecoded(key.utf8), as: UTF8.self) else {
            return nil
        }
        return escaped(text).utf8.elementsEqual(key.utf8) ? text : nil
    }
}

extension FileName {
    /// The file name of a key. All storages accept the same keys.
    init(storageKey key: String) throws(StorageError) {
        guard let name = FileName(key.utf8), !PendingFile.isTemporary(name) else { throw .invalidKey(key) }
        self = name
    }
}
