import FileSystem

/// Keys of a storage for any text. A plain name is its own key.
public enum StorageKey {
    /// The key of a text: what no key may have, and `%`, becomes `%HH`.
    public static func escaped(_ text: String) -> String {
        guard !text.isEmpty else { return "%" }
        let escapesDot = text.utf8.first == UInt8(ascii: ".") && FileName(storageKey: text.utf8) == nil
        let rest = LocalFile.percentEncoded(text.utf8.dropFirst(escapesDot ? 1 : 0)) {
            ![0, UInt8(ascii: "/"), UInt8(ascii: "%")].contains($0)
        }
        return escapesDot ? "%2E" + rest : rest
    }

    /// The text of a key; nil for a key that `escaped` does not make.
    public static func text(of key: String) -> String? {
        if key == "%" { return "" }
        guard let text = String(validating: LocalFile.percentDecoded(key.utf8), as: UTF8.self) else {
            return nil
        }
        return escaped(text).utf8.elementsEqual(key.utf8) ? text : nil
    }
}

extension FileName {
    /// The file name of a key; nil for what is no key. All storages accept the same keys.
    init?(storageKey key: some Collection<UInt8>) {
        guard let name = FileName(key), !PendingFile.isTemporary(name) else { return nil }
        self = name
    }

    init(storageKey key: String) throws(StorageError) {
        guard let name = FileName(storageKey: key.utf8) else { throw .invalidKey(key) }
        self = name
    }
}
