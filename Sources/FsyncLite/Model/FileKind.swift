import FileSystem

/// The type of an entry, with its type-specific data.
public enum FileKind: Hashable, Sendable {
    case file
    case directory
    /// The destination as bytes, exactly as stored. It is never followed.
    case symlink(destination: [UInt8])
    case fifo
    case characterDevice(major: UInt32, minor: UInt32)
    case blockDevice(major: UInt32, minor: UInt32)
    case socket

    var type: FileType {
        switch self {
        case .file: .file
        case .directory: .directory
        case .symlink: .symlink
        case .fifo: .fifo
        case .characterDevice: .characterDevice
        case .blockDevice: .blockDevice
        case .socket: .socket
        }
    }
}

extension FileType {
    /// The name in JSON documents.
    package var documentName: String {
        switch self {
        case .file: "file"
        case .directory: "directory"
        case .symlink: "symlink"
        case .fifo: "fifo"
        case .characterDevice: "character_device"
        case .blockDevice: "block_device"
        case .socket: "socket"
        }
    }

    package init?(documentName: some Collection<UInt8>) {
        for type in FileType.allCases where documentName.elementsEqual(type.documentName.utf8) {
            self = type
            return
        }
        return nil
    }
}
