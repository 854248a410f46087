import CLinux
import Glibc

/// The extended attributes of one object that a mirror copies: names and values as bytes, sorted by name.
///
/// POSIX ACLs are two of them, in the kernel's format. The owner of a file can set `user` attributes and ACLs. Only
/// root can read and set `trusted` and `security`, which include file capabilities. Attributes that belong to the file
/// system (`btrfs.compression`, `system.nfs4_acl`) and `derived` are left out. FileSystems.md lists the names.
public struct ExtendedAttributes: Hashable, Sendable {
    public struct Attribute: Hashable, Sendable {
        public var name: [UInt8]
        public var value: [UInt8]

        public init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }

        public var isACL: Bool { name.starts(with: ExtendedAttributes.acl) }
    }

    /// The wanted kinds of attributes.
    public struct Selection: Hashable, Sendable {
        public var plain: Bool
        public var acls: Bool
        /// `trusted` and `security`.
        public var privileged: Bool

        /// All kinds that this process can read.
        public static var readable: Selection {
            Selection(plain: true, acls: true, privileged: Account.isRoot)
        }

        public init(plain: Bool, acls: Bool, privileged: Bool) {
            self.plain = plain
            self.acls = acls
            self.privileged = privileged
        }

        public var isEmpty: Bool { !plain && !acls }

        public func contains(_ name: some Collection<UInt8>) -> Bool {
            if name.starts(with: "user.".utf8) { return plain && !ExtendedAttributes.isReserved(name) }
            if name.starts(with: ExtendedAttributes.acl) { return acls }
            return plain && privileged && !ExtendedAttributes.derived.contains(Array(name))
                && (name.starts(with: "trusted.".utf8) || name.starts(with: "security.".utf8))
        }
    }

    fileprivate static let acl = Array("system.posix_acl_".utf8)
    /// The name of the ACL that decides about access.
    public static let accessACL = Array("system.posix_acl_access".utf8)
    /// The names of the two ACLs, as in a list of the kernel.
    private static let namesOfACLs = Array("system.posix_acl_access\0system.posix_acl_default\0".utf8)

    /// Names under which a file system or the kernel shows other metadata. XFS shows ACLs under the first two: removing
    /// one of them removes the ACL. `security.evm` is computed from the object's inode number.
    public static let derived = Set(
        ["trusted.SGI_ACL_FILE", "trusted.SGI_ACL_DEFAULT", "security.evm"].map { Array($0.utf8) })

    public private(set) var attributes: [Attribute]

    public init(_ attributes: [Attribute] = []) {
        self.attributes =
            attributes.count > 1
            ? attributes.sorted { $0.name.lexicographicallyPrecedes($1.name) } : attributes
    }

    public var isEmpty: Bool { attributes.isEmpty }

    public func filter(_ isIncluded: (Attribute) -> Bool) -> ExtendedAttributes {
        ExtendedAttributes(attributes.filter(isIncluded))
    }

    /// These attributes and those of `other`, which must have other names.
    public func merging(_ other: ExtendedAttributes) -> ExtendedAttributes {
        other.isEmpty ? self : ExtendedAttributes(attributes + other.attributes)
    }

    /// Puts the owner's rights of these permissions into the access ACL, because the kernel makes the two equal.
    public func givingOwner(_ permissions: UInt16) -> ExtendedAttributes {
        var attributes = attributes
        for index in attributes.indices where attributes[index].name == ExtendedAttributes.acl + "access".utf8
        {
            // After a version of four bytes, each entry has eight: tag, rights, and a user or group.
            for entry in stride(from: 4, to: attributes[index].value.count - 7, by: 8)
            where attributes[index].value[entry] == 1 && attributes[index].value[entry + 1] == 0 {
                attributes[index].value[entry + 2] = UInt8(permissions >> 6 & 7)
            }
        }
        return ExtendedAttributes(attributes)
    }

    public subscript(name: [UInt8]) -> [UInt8]? { attributes.first { $0.name == name }?.value }
}

// MARK: Of objects

extension FileDescriptor {
    public func extendedAttributes(_ wanted: ExtendedAttributes.Selection) throws(Errno)
        -> ExtendedAttributes
    {
        try ExtendedAttributes(
            wanted, list: { flistxattr(rawValue, $0, $1) }, get: { fgetxattr(rawValue, $0, $1, $2) })
    }

    /// Makes these the only attributes of their kinds.
    ///
    /// - Returns: those that the file system does not accept.
    public func setExtendedAttributes(
        _ attributes: ExtendedAttributes, over present: ExtendedAttributes
    ) throws(Errno) -> ExtendedAttributes {
        try attributes.put(
            over: present, set: { fsetxattr(rawValue, $0, $1, $2, 0) }, remove: { fremovexattr(rawValue, $0) }
        )
    }
}

extension Directory {
    /// The attributes of a name, without following a symlink.
    public func extendedAttributes(
        of name: FileName, _ wanted: ExtendedAttributes.Selection
    ) throws(SystemError) -> ExtendedAttributes {
        if hasNoExtendedAttributes(name) { return ExtendedAttributes() }
        return try ObjectHandle(name, in: self).extendedAttributes(wanted)
    }
}

extension ObjectHandle {
    /// The calls on descriptors refuse a path-only one. So this uses its link under `/proc`, which leads to the object
    /// itself, even if that is a symlink.
    public func extendedAttributes(
        _ wanted: ExtendedAttributes.Selection
    ) throws(SystemError) -> ExtendedAttributes {
        guard isPathOnly else {
            return try calling("fgetxattr", path) { () throws(Errno) in
                try descriptor.extendedAttributes(wanted)
            }
        }
        return try withLink("listxattr") { (link) throws(Errno) in
            try ExtendedAttributes(
                wanted, list: { listxattr(link, $0, $1) }, get: { getxattr(link, $0, $1, $2) })
        }
    }

    /// Makes these the only attributes of their kinds.
    ///
    /// - Returns: those that the file system does not accept.
    public func setExtendedAttributes(
        _ attributes: ExtendedAttributes, over present: ExtendedAttributes
    ) throws(SystemError) -> ExtendedAttributes {
        guard isPathOnly else {
            return try calling("fsetxattr", path) { () throws(Errno) in
                try descriptor.setExtendedAttributes(attributes, over: present)
            }
        }
        return try withLink("setxattr") { (link) throws(Errno) in
            try attributes.put(
                over: present, set: { setxattr(link, $0, $1, $2, 0) }, remove: { removexattr(link, $0) })
        }
    }
}

extension ExtendedAttributes {
    /// Errors that mean "no attributes", because the file system or the type of object has none.
    private static let none: Set<Errno> = [.notSupported, .notImplemented]
    /// Errors of attributes that the target does not accept, and that a run can omit.
    private static let refused: Set<Errno> = [
        .notSupported, .notImplemented, .notPermitted, .accessDenied, .noSpace, .quotaExceeded, .invalid,
        Errno(rawValue: E2BIG), Errno(rawValue: ERANGE), Errno(rawValue: EILSEQ),
    ]

    fileprivate init(
        _ wanted: Selection, list: (UnsafeMutablePointer<CChar>?, Int) -> Int,
        get: (UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
    ) throws(Errno) {
        attributes = []
        guard !wanted.isEmpty else { return }
        var names = ExtendedAttributes.namesOfACLs
        do throws(Errno) {
            // The kernel may not list all names. Those of the ACLs are known.
            if wanted.plain {
                names = try ExtendedAttributes.read { (buffer, size) in
                    list(buffer?.assumingMemoryBound(to: CChar.self), size)
                }
            }
        } catch  where ExtendedAttributes.none.contains(error) {
            return
        }
        for name in names.split(separator: 0) where wanted.contains(name) {
            do throws(Errno) {
                let value = try withCString(terminated: name + [0]) { (pointer) throws(Errno) in
                    try ExtendedAttributes.read { get(pointer, $0, $1) }
                }
                attributes.append(Attribute(name: Array(name), value: value))
            } catch  where error == .noData || !wanted.plain && ExtendedAttributes.none.contains(error) {
                // It was removed between the two calls, or never existed.
            }
        }
        attributes.sort { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// Repeats the call with a larger buffer while the value does not fit.
    private static func read(_ call: (UnsafeMutableRawPointer?, Int) -> Int) throws(Errno) -> [UInt8] {
        var capacity = 256
        while true {
            do throws(Errno) {
                return try [UInt8](upTo: capacity) { (buffer) throws(Errno) -> Int in
                    try retrying { call(buffer.baseAddress, buffer.count) }
                }
            } catch  where error == Errno(rawValue: ERANGE) && capacity < 1 << 20 {
                capacity *= 8
            }
        }
    }

    fileprivate func put(
        over present: ExtendedAttributes,
        set: (UnsafePointer<CChar>, UnsafeRawPointer?, Int) -> Int32, remove: (UnsafePointer<CChar>) -> Int32
    ) throws(Errno) -> ExtendedAttributes {
        for attribute in present.attributes
        where self[attribute.name] == nil && !ExtendedAttributes.isReserved(attribute.name) {
            try withCString(terminated: attribute.name + [0]) { (name) throws(Errno) in
                do throws(Errno) {
                    _ = try retrying { remove(name) }
                } catch  where error == .noData {}
            }
        }
        var refused: [Attribute] = []
        // Attributes that shrink are first: the space for all of them may be one block.
        func growth(_ attribute: Attribute) -> Int {
            attribute.value.count - (present[attribute.name]?.count ?? 0)
        }
        // An ACL may remove write permission, which ordinary users need for the rest.
        func rank(_ attribute: Attribute) -> (Int, Int) {
            (attribute.isACL && !Account.isRoot ? 1 : 0, growth(attribute))
        }
        let changed = attributes.filter {
            present[$0.name] != $0.value && !ExtendedAttributes.isReserved($0.name)
        }
        for attribute in changed.sorted(by: { rank($0) < rank($1) }) {
            do throws(Errno) {
                try withCString(terminated: attribute.name + [0]) { (name) throws(Errno) in
                    _ = try attribute.value.withUnsafeBufferPointer { (value) throws(Errno) in
                        try retrying { set(name, value.baseAddress, value.count) }
                    }
                }
            } catch  where ExtendedAttributes.refused.contains(error) {
                refused.append(attribute)
            }
        }
        return ExtendedAttributes(refused)
    }
}
