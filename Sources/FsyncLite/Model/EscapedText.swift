package func escapedText(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
