import FileSystem

/// The place of an entry below the root of a tree: names separated by `/`, kept as bytes.
///
/// No component is empty, `.` or `..`, and none holds NUL, so a path can never lead out of its tree. The
/// empty path is the root itself. Equality and order go by bytes: Swift's `String` compares canonically and
/// takes NFC and NFD forms of one name for the same, which on Linux are two files.
///
/// The order is the order of a scan: depth first, names by their bytes. It is that of the whole path when
/// `/` sorts before every other byte, so `a`, `a/b`, `a-b` are in order.
public struct RelativePath: Hashable, Sendable {
    /// The path as the file system has it, without `/` at either end.
    public internal(set) var bytes: [UInt8]

    /// The root of the tree.
    public static let root = RelativePath()

    private init() {
        bytes = []
    }

    /// nil when the bytes are not a relative path: an empty, `.` or `..` component, NUL, or `/` at an end.
    public init?(_ bytes: some Collection<UInt8>) {
        self.init(Array(bytes))
    }

    /// nil when the bytes are not a relative path.
    package init?(_ bytes: [UInt8]) {
        guard RelativePath.isValid(bytes) else { return nil }
        self.bytes = bytes
    }

    /// Whether bytes are a relative path; none are the root's.
    ///
    /// - Parameter checked: so many bytes at the beginning are those of another path.
    package static func isValid(_ bytes: [UInt8], from checked: Int = 0) -> Bool {
        guard !bytes.isEmpty else { return true }
        return bytes.withUnsafeBytes { bytes in
            // A component may go on differently, so it is looked at from its beginning.
            var start = min(checked, bytes.count)
            while start > 0, bytes[start - 1] != separator { start -= 1 }
            while true {
                let end = firstByte(separator, or: 0, in: bytes, from: start)
                guard end == bytes.count || bytes[end] == separator else { return false }
                switch end - start {
                case 0: return false
                case 1: if bytes[start] == dot { return false }
                case 2: if bytes[start] == dot, bytes[start + 1] == dot { return false }
                default: break
                }
                if end == bytes.count { return true }
                start = end + 1
            }
        }
    }

    /// nil when the text is not a relative path.
    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// Bytes that are known to be a path: the caller made them from valid names.
    package init(validated bytes: [UInt8]) {
        self.bytes = bytes
    }

    public var isRoot: Bool { bytes.isEmpty }

    /// The last component; empty at the root.
    public var lastComponent: ArraySlice<UInt8> {
        guard let slash = bytes.lastIndex(of: separator) else { return bytes[...] }
        return bytes[(slash + 1)...]
    }

    /// The path of the directory that holds this entry; nil at the root.
    public var parent: RelativePath? {
        guard !isRoot else { return nil }
        return RelativePath(validated: Array(bytes[..<(bytes.lastIndex(of: separator) ?? 0)]))
    }

    /// The components from the top.
    public var components: [ArraySlice<UInt8>] {
        bytes.split(separator: separator)
    }

    /// The path of an entry in this directory; nil when the name is not a single valid component.
    public static func + (directory: RelativePath, name: String) -> RelativePath? {
        FileName(name.utf8).map { directory.appending($0) }
    }

    package func appending(_ name: FileName) -> RelativePath {
        RelativePath(validated: isRoot ? Array(name.bytes) : bytes + [separator] + name.bytes)
    }

    /// The last component as a name for the kernel; nil at the root.
    package var fileName: FileName? { FileName(lastComponent) }

    /// The length in bytes of the deepest directory that both paths name or lie in, themselves included.
    package func sharedDirectoryLength(with other: RelativePath) -> Int {
        let index = firstDifference(from: other)
        func isBoundary(_ bytes: [UInt8]) -> Bool { bytes.count == index || bytes[index] == separator }
        if isBoundary(bytes), isBoundary(other.bytes) { return index }
        return bytes[..<index].lastIndex(of: separator) ?? 0
    }

    /// Where two paths first differ, in bytes; the length of the shorter one where it begins the other.
    package func firstDifference(from other: RelativePath) -> Int {
        bytes.withUnsafeBytes { left in
            other.bytes.withUnsafeBytes {
                FileSystem.firstDifference(left, $0, min(left.count, $0.count))
            }
        }
    }

    /// How many components the path has beyond a directory that it lies in, of this length in bytes.
    package func depth(after length: Int) -> Int {
        guard bytes.count > length else { return 0 }
        let separators = bytes.withUnsafeBytes { count(separator, in: $0, from: length) }
        return separators + (length == 0 ? 1 : 0)
    }

    /// True when this path lies below `directory`, at whatever depth.
    public func isBelow(_ directory: RelativePath) -> Bool {
        if directory.isRoot { return !isRoot }
        return bytes.count > directory.bytes.count && bytes[directory.bytes.count] == separator
            && bytes.starts(with: directory.bytes)
    }

    /// The directories that it lies in, the nearest first and the root last.
    package var ancestors: some Sequence<RelativePath> { sequence(first: self, next: \.parent).dropFirst() }

    /// True when this path lies below one of these directories.
    package func isBelow(anyOf directories: Set<RelativePath>) -> Bool {
        ancestors.contains { directories.contains($0) }
    }
}

private let separator = UInt8(ascii: "/")
private let dot = UInt8(ascii: ".")

extension RelativePath {
    public static func == (left: RelativePath, right: RelativePath) -> Bool {
        left.bytes.count == right.bytes.count
            && left.bytes.withUnsafeBytes { left in right.bytes.withUnsafeBytes { areEqual(left, $0) } }
    }

    /// In one piece: an array hashes byte by byte.
    public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension RelativePath: Comparable {
    public static func < (left: RelativePath, right: RelativePath) -> Bool {
        left.order(comparedTo: right) < 0
    }

    /// Negative, zero or positive, as `memcmp` says it.
    package func order(comparedTo other: RelativePath) -> Int {
        order(comparedTo: other, differingAt: firstDifference(from: other))
    }

    /// - Parameter index: where they first differ.
    package func order(comparedTo other: RelativePath, differingAt index: Int) -> Int {
        let (left, right) = (bytes.span, other.bytes.span)
        guard index < min(left.count, right.count) else { return left.count - right.count }
        // NUL is no byte of a path, so the separator takes its place before all others.
        let (first, second) = (left[index], right[index])
        return Int(first == separator ? 0 : first) - Int(second == separator ? 0 : second)
    }
}

extension RelativePath: CustomStringConvertible {
    /// For people: `.` for the root, control characters and invalid UTF-8 escaped.
    public var description: String {
        isRoot ? "." : escapedText(bytes)
    }
}

extension RelativePath {
    func appending(_ path: RelativePath) -> RelativePath {
        path.components.reduce(self) { above, name in FileName(name).map(above.appending) ?? above }
    }

    /// The rest of the path below a directory; nil for what does not lie there.
    func relative(to directory: RelativePath) -> RelativePath? {
        if directory.isRoot { return self }
        return isBelow(directory) ? RelativePath(Array(bytes.dropFirst(directory.bytes.count + 1))) : nil
    }
}
