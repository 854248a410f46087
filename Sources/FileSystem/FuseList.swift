import CLinux

/// A part of a directory's list.
public struct FuseList {
    private(set) var bytes: [UInt8] = []
    private let limit: Int
    /// With attributes.
    private let isWhole: Bool

    init(limit: Int, isWhole: Bool) {
        (self.limit, self.isWhole) = (limit, isWhole)
        bytes.reserveCapacity(limit)
    }

    /// - Parameters:
    ///   - position: the next call continues from here.
    ///   - isKnown: the kernel knows it already; for `.` and `..`.
    /// - Returns: false if it does not fit.
    public mutating func add(
        _ name: some Collection<UInt8>, _ node: FuseNode, position: UInt64, isKnown: Bool = false
    ) -> Bool {
        let head = isWhole ? MemoryLayout<fuse_entry>.size : 0
        let length = (head + MemoryLayout<fuse_listed>.size + name.count + 7) & ~7
        guard bytes.count + length <= limit else { return false }
        if isWhole {
            append(isKnown ? fuse_entry() : fuse_entry(node))
        }
        append(
            fuse_listed(
                ino: node.id, off: position, namelen: UInt32(name.count), type: node.status.type.mode >> 12))
        bytes.append(contentsOf: name)
        while bytes.count & 7 != 0 { bytes.append(0) }
        return true
    }

    private mutating func append<Value>(_ value: Value) {
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }
}
