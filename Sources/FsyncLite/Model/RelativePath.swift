import FileSystem

/// The path of an entry below the root of a tree: names separated by `/`, as bytes.
///
/// No component is empty, `.` or `..`, and none contains NUL, so a path cannot lead out of its tree. The empty path is
/// the root. Equality and order are those of the bytes. Swift's `String` treats the NFC and NFD forms of a name as
/// equal, but on Linux they are two files.
///
/// The order is that of a scan: depth first, names by their bytes. It equals the order of whole paths in which `/`
/// sorts before every other byte: `a`, `a/b`, `a-b`.
public struct RelativePath: Hashable, Sendable {
    /// The path as bytes, without `/` at either end.
    public internal(set) var bytes: [UInt8]

    /// The root of the tree.
    public static let root = RelativePath()

    /// Longer paths are not mirrored. Every list of entries contains whole paths, so its memory would grow with the
    /// square of a tree's depth. The limit is twice the longest path of a system call.
    package static let longest = 8192

    private init() {
        bytes = []
    }

    /// nil for an invalid path: an empty, `.` or `..` component, NUL, or `/` at an end.
    public init?(_ bytes: some Collection<UInt8>) {
        self.init(Array(bytes))
    }

    /// nil for an invalid path.
    package init?(_ bytes: [UInt8]) {
        guard RelativePath.isValid(bytes) else { return nil }
        self.bytes = bytes
    }

    /// Whether bytes are a valid relative path; empty means the root.
    ///
    /// - Parameter checked: the number of bytes at the start that also begin another valid path.
    package static func isValid(_ bytes: [UInt8], from checked: Int = 0) -> Bool {
        guard !bytes.isEmpty else { return true }
        return bytes.withUnsafeBytes { bytes in
            // The component at `checked` may continue differently, so it is checked from its start.
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

    /// nil for an invalid path.
    public init?(_ text: String) {
        self.init(Array(text.utf8))
    }

    /// The caller guarantees that the bytes are a valid path.
    package init(validated bytes: [UInt8]) {
        self.bytes = bytes
    }

    public var isRoot: Bool { bytes.isEmpty }

    /// The last component; empty at the root.
    public var lastComponent: ArraySlice<UInt8> {
        guard let slash = bytes.lastIndex(of: separator) else { return bytes[...] }
        return bytes[(slash + 1)...]
    }

    /// The first component; empty at the root.
    package var firstComponent: ArraySlice<UInt8> { bytes.prefix { $0 != separator } }

    /// The path of the parent directory; nil at the root.
    public var parent: RelativePath? {
        guard !isRoot else { return nil }
        return RelativePath(validated: Array(bytes[..<(bytes.lastIndex(of: separator) ?? 0)]))
    }

    /// The components from the top.
    public var components: [ArraySlice<UInt8>] {
        bytes.split(separator: separator)
    }

    /// The path of an entry in this directory; nil if the name is not a single valid component.
    public static func + (directory: RelativePath, name: String) -> RelativePath? {
        FileName(name.utf8).map { directory.appending($0) }
    }

    package func appending(_ name: FileName) -> RelativePath {
        RelativePath(validated: isRoot ? Array(name.bytes) : bytes + [separator] + name.bytes)
    }

    /// The last component as a `FileName`; nil at the root.
    package var fileName: FileName? { FileName(lastComponent) }

    /// The length in bytes of the deepest directory that contains or equals both paths.
    package func sharedDirectoryLength(with other: RelativePath) -> Int {
        let index = firstDifference(from: other)
        func isBoundary(_ bytes: [UInt8]) -> Bool { bytes.count == index || bytes[index] == separator }
        if isBoundary(bytes), isBoundary(other.bytes) { return index }
        return bytes[..<index].lastIndex(of: separator) ?? 0
    }

    /// The offset of the first different byte; the length of the shorter path if it is a prefix.
    package func firstDifference(from other: RelativePath) -> Int {
        bytes.withUnsafeBytes { left in
            other.bytes.withUnsafeBytes {
                FileSystem.firstDifference(left, $0, min(left.count, $0.count))
            }
        }
    }

    /// The number of components after an ancestor whose path has this length in bytes.
    package func depth(after length: Int) -> Int {
        guard bytes.count > length else { return 0 }
        let separators = bytes.withUnsafeBytes { count(separator, in: $0, from: length) }
        return separators + (length == 0 ? 1 : 0)
    }

    /// Whether this path is below `directory`, at any depth.
    public func isBelow(_ directory: RelativePath) -> Bool {
        if directory.isRoot { return !isRoot }
        return bytes.count > directory.bytes.count && bytes[directory.bytes.count] == separator
            && firstDifference(from: directory) == directory.bytes.count
    }

    /// The ancestors, nearest first, root last.
    package var ancestors: some Sequence<RelativePath> { sequence(first: self, next: \.parent).dropFirst() }

    /// Whether this path is below one of these directories.
    package func isBelow(anyOf directories: Set<RelativePath>) -> Bool {
        // In a large set, the ancestors of the path are looked up, each of which must be hashed.
        directories.count > 8
            ? ancestors.contains { directories.contains($0) } : directories.contains(where: isBelow)
    }

    /// Whether it is one of these paths, or below one.
    func isWithin(_ paths: [RelativePath]) -> Bool { paths.contains { self == $0 || isBelow($0) } }
    func isWithin(_ paths: Set<RelativePath>) -> Bool { paths.contains(self) || isBelow(anyOf: paths) }
}

let separator = UInt8(ascii: "/")
private let dot = UInt8(ascii: ".")

extension RelativePath {
    public static func == (left: RelativePath, right: RelativePath) -> Bool {
        left.bytes.count == right.bytes.count
            && left.bytes.withUnsafeBytes { left in right.bytes.withUnsafeBytes { areEqual(left, $0) } }
    }

    /// Hashes all bytes at once. An array would hash byte by byte.
    public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension RelativePath: Comparable {
    public static func < (left: RelativePath, right: RelativePath) -> Bool {
        left.order(comparedTo: right) < 0
    }

    /// Negative, zero or positive, like `memcmp`.
    package func order(comparedTo other: RelativePath) -> Int {
        bytes.withUnsafeBytes { left in other.bytes.withUnsafeBytes { RelativePath.order(left, $0) } }
    }

    /// The order of the bytes of two paths.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        order(left, right, FileSystem.firstDifference(left, right, min(left.count, right.count)))
    }

    /// - Parameter index: the offset of the first difference.
    package func order(comparedTo other: RelativePath, differingAt index: Int) -> Int {
        bytes.withUnsafeBytes { left in other.bytes.withUnsafeBytes { RelativePath.order(left, $0, index) } }
    }

    private static func order(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ index: Int
    ) -> Int {
        guard index < min(left.count, right.count) else { return left.count - right.count }
        // No path contains NUL. The separator is mapped to it, so that it sorts first.
        let (first, second) = (left[index], right[index])
        return Int(first == separator ? 0 : first) - Int(second == separator ? 0 : second)
    }
}

extension RelativePath: CustomStringConvertible {
    /// For display. The root is `.`; control characters and invalid UTF-8 are escaped.
    public var description: String {
        isRoot ? "." : escapedText(bytes)
    }
}

extension RelativePath {
    func appending(_ path: RelativePath) -> RelativePath {
        path.components.reduce(self) { above, name in FileName(name).map(above.appending) ?? above }
    }

    /// The rest of the path below a directory; nil if it is not below it.
    func relative(to directory: RelativePath) -> RelativePath? {
        if directory.isRoot { return self }
        return isBelow(directory) ? RelativePath(Array(bytes.dropFirst(directory.bytes.count + 1))) : nil
    }
}
