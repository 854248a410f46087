/// What has an entry of a manifest compared again although nothing of it seems to have changed.
package struct EntryMarks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It changed so shortly before it was looked at that a later change may have the same change time (*racy* is
    /// git's word).
    package static let racy = EntryMarks(rawValue: 1)
    /// It grew while it was copied: the mirror has its first part.
    package static let growing = EntryMarks(rawValue: 2)
}
