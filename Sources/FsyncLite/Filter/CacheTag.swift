import FileSystem

/// The file that marks a directory with reproducible content. Source: the Cache Directory Tagging Specification,
/// <https://bford.info/cachedir/>.
package enum CacheTag {
    package static let fileName = FileName("CACHEDIR.TAG")
    /// The start of a valid tag. The tag is a regular file, not a symlink.
    package static let signature = Array("Signature: 8a477f597d28d172789f06886806bc55".utf8)

    /// Whether a file that starts with these bytes is a tag. The first 43 bytes are enough.
    package static func isValid(_ content: some Sequence<UInt8>) -> Bool {
        content.starts(with: signature)
    }
}
