import FsyncLite

extension Timestamp {
    /// nil for an empty text.
    init?(text: String) {
        self.init(iso8601: Array(text.utf8)[...])
    }
}
