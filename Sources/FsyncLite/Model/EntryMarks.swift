/// Facts about a manifest's entry besides the object's status.
package struct EntryMarks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// *Racy*, as in git: it changed so shortly before it was examined that a later change may have the same change
    /// time.
    package static let racy = EntryMarks(rawValue: 1)
    /// It grew while it was copied. The mirror has its first part.
    package static let growing = EntryMarks(rawValue: 2)
    /// It was mirrored until filters excluded it, and is still in the target. It is not part of the mirror, but earlier
    /// trees find the object by this entry.
    package static let uncovered = EntryMarks(rawValue: 4)
}

/// The reason why an entry is excluded.
package enum Exclusion: Sendable {
    case none
    case byRule
    /// By its size, or because it is a mounted file. The source's entry decides, or the target's if there is none.
    case byStatus
    /// In the tree of a target: another target, or its state. Entries below it are not looked at.
    case asTarget
}
