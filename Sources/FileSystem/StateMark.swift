import CLinux
import Glibc

/// What the reserved extended attribute of a directory says: whether it is the state of a target.
///
/// A name is no proof of that, and neither are owner and mode, which a mirror sets. A mirror never copies the attribute.
/// It gives `mirrored` to each directory that it makes under a reserved name.
public enum StateMark: Sendable {
    /// It was made to be a state, or its owner has said so.
    case state
    /// A mirror made it: it is content.
    case mirrored
    case missing
    /// The file system has no such attributes.
    case unsupported

    fileprivate var value: StaticString { self == .state ? "state" : "mirrored" }
}

extension ExtendedAttributes {
    /// The names that no mirror reads or sets.
    public static func isReserved(_ name: some Collection<UInt8>) -> Bool {
        name.starts(with: "user.fsync-lite.".utf8)
    }

    fileprivate static let stateMark: StaticString = "user.fsync-lite.state"
}

extension Directory {
    /// The mark of this directory. One that cannot be read is missing.
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
            // A value of another length is none that says "state".
            case Errno(rawValue: ERANGE): return .mirrored
            default: throw error
            }
        }
    }

    /// Marks this directory as a state, where the file system has such attributes.
    public func markAsState() throws { try ObjectHandle(of: self).setMark(.state, replacing: true) }

    /// Marks a directory that a mirror brings here. Other objects need no mark, and a state that comes back from a history
    /// keeps its own.
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
                let isKept = error.errno == .exists && !replacing
                guard isKept || [.notSupported, .notImplemented].contains(error.errno) else { throw error }
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
