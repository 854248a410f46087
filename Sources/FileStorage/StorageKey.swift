import FileSystem

/// Keys of a storage for any text. A plain name is its own key.
public enum StorageKey {
    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    /// The key of a text: what no key may have, and `%`, becomes `%HH`.
    public static func escaped(_ text: String) -> String {
        guard !text.isEmpty else { return "%" }
        let isName = FileName(storageKey: text.utf8) != nil
        var key: [UInt8] = []
        for byte in text.utf8 {
            if [0, UInt8(ascii: "/"), UInt8(ascii: "%")].contains(byte)
                || byte == UInt8(ascii: ".") && key.isEmpty && !isName
            {
                key += [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
            } else {
                key.append(byte)
            }
        }
        return String(decoding: key, as: UTF8.self)
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
