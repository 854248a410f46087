import CLinux
import Glibc

/// The value of the reserved extended attribute, which shows whether a directory is the state of a target.
///
/// A name is no proof of that. Nor are owner and mode, because a mirror sets them. A mirror never copies the attribute.
/// It sets `mirrored` on each directory that it makes under a reserved name.
public enum StateMark: Sendable {
    /// It was made to be a state, or its owner has said so.
    case state
    /// A mirror made it, so it is content.
    case mirrored
    case missing
    /// The file system has no such attributes.
    case unsupported

    fileprivate var value: StaticString { self == .state ? "state" : "mirrored" }
}

extension ExtendedAttributes {
    /// Whether a name is one that no mirror reads or sets.
    public static func isReserved(_ name: some Collection<UInt8>) -> Bool {
        name.starts(with: "user.fsync-lite.".utf8)
    }

    fileprivate static let stateMark: StaticString = "user.fsync-lite.state"
}

extension Directory {
    /// The mark of this directory. A mark that cannot be read is treated as missing.
    public func stateMark() throws(SystemError) -> StateMark {
        do throws(SystemError) {
            let value = try calling("fgetxattr", path) { () throws(Errno) in
                try withRawDescriptor { (descriptor) throws(Errno) in
                    try [UInt8](upTo: 64) { (buffer) throws(Errno) in
                        try retrying {
                            fgetxattr(
                                descriptor, ExtendedAttributes.stateMark.pointer, buffer.baseAddress,
                                buffer.count)
                        }
                    }
                }
            }
            return value.elementsEqual(StateMark.state.value.description.utf8) ? .state : .mirrored
        } catch {
            switch error.errno {
            case .notSupported, .notImplemented: return .unsupported
            case .noData, .accessDenied: return .missing
            // A value of another length does not mean "state".
            case Errno(rawValue: ERANGE): return .mirrored
            default: throw error
            }
        }
    }

    /// Marks this directory as a state, if the file system has extended attributes.
    public func markAsState() throws { try ObjectHandle(of: self).setMark(.state, replacing: true) }

    /// Marks a directory that a mirror makes here. Other objects need no mark. A state that is restored from a history
    /// keeps its own mark.
    public func markAsMirrored(_ name: FileName) throws {
        let handle = try ObjectHandle(name, in: self)
        guard try handle.status().type == .directory else { return }
        try handle.setMark(.mirrored, replacing: false)
    }
}

extension ObjectHandle {
    fileprivate func setMark(_ mark: StateMark, replacing: Bool) throws {
        try whileWritable {
            do throws(SystemError) {
                try withLink("setxattr") { (link) throws(Errno) in
                    _ = try retrying {
                        setxattr(
                            link, ExtendedAttributes.stateMark.pointer, mark.value.utf8Start,
                            mark.value.utf8CodeUnitCount, replacing ? 0 : Int32(XATTR_CREATE))
                    }
                }
            } catch {
                let isMarked = error.errno == .exists && !replacing
                guard isMarked || [.notSupported, .notImplemented].contains(error.errno) else { throw error }
            }
        }
    }
}

extension StaticString {
    /// A literal ends with a NUL.
    fileprivate var pointer: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
