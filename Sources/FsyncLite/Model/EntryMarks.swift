/// Facts about a manifest's entry besides the object's status.
package struct EntryMarks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// *Racy*, as in git: it changed so shortly before it was examined that a later change may have the same change
    /// time.
    package static let racy = EntryMarks(rawValue: 1)
    /// It grew while it was copied: the mirror has its first part.
    package static let growing = EntryMarks(rawValue: 2)
    /// It was mirrored until filters excluded it, and stays in the target. It is not part of the mirror, but earlier
    /// trees find the object by this entry.
    package static let uncovered = EntryMarks(rawValue: 4)
}

/// Why an entry is excluded.
package enum Exclusion: Sendable {
    case none
    case byRule
    /// By its size, or as a mounted file: that of the tree that has the file; if both have it, that of the source.
    case byStatus
    /// In the tree of a target: another target, or its state. Nothing below is looked at.
    case asTarget
}
