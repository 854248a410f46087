import Glibc

/// Project ids and encryption of file systems, by the kernel's own calls.
package enum Project {
    /// Sets the project of a directory or file. If `handsDown`, new objects in it get the same one.
    package static func set(_ project: UInt32, on path: String, handsDown: Bool = false) throws {
        try withDescriptor(path) { descriptor in
            var attributes = [UInt32](repeating: 0, count: 7)
            guard ioctl(descriptor, 0x801C_581F, &attributes) == 0 else { return false }
            attributes[0] = handsDown ? attributes[0] | 0x200 : attributes[0] & ~0x200
            attributes[3] = project
            return ioctl(descriptor, 0x401C_5820, &attributes) == 0
        }
    }

    package static func of(_ path: String) throws -> UInt32 {
        var attributes = [UInt32](repeating: 0, count: 7)
        try withDescriptor(path) { ioctl($0, 0x801C_581F, &attributes) == 0 }
        return attributes[3]
    }

    /// Encrypts an empty directory, with a key that the kernel receives for it.
    package static func encrypt(_ path: String) throws {
        try withDescriptor(path) { descriptor in
            // A `fscrypt_add_key_arg` whose specifier is an identifier, and 64 bytes of key.
            var key = [UInt8](repeating: 0, count: 80) + [UInt8](repeating: 7, count: 64)
            (key[0], key[40]) = (2, 64)
            guard ioctl(descriptor, 0xC050_6617, &key) == 0 else { return false }
            var policy: [UInt8] = [2, 1, 4, 3, 0, 0, 0, 0] + key[8..<24]
            return ioctl(descriptor, 0x800C_6613, &policy) == 0
        }
    }

    private static func withDescriptor(_ path: String, _ body: (Int32) -> Bool) throws {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw TreeError("open", Array(path.utf8)) }
        defer { close(descriptor) }
        guard body(descriptor) else { throw TreeError("ioctl", Array(path.utf8)) }
    }
}
