import FileSystem

/// The file by which a program says that a directory holds what it can make again:
/// the Cache Directory Tagging Specification, <https://bford.info/cachedir/>.
package enum CacheTag {
    package static let fileName = FileName("CACHEDIR.TAG")
    /// How a valid tag begins; what follows is for people. The tag is a regular file, not a symlink.
    package static let signature = Array("Signature: 8a477f597d28d172789f06886806bc55".utf8)

    /// Whether a file that begins with these bytes is a tag: the first 43 are enough.
    package static func isValid(_ content: some Sequence<UInt8>) -> Bool {
        content.starts(with: signature)
    }
}
