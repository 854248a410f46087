/// What a manifest tells of an entry beside the object itself.
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
    /// It took part until filters left it out, and stays in the target: no entry of the mirror, but the record by which
    /// an earlier tree finds it again.
    package static let uncovered = EntryMarks(rawValue: 4)
}

/// Why an entry takes no part.
package enum Exclusion: Sendable {
    case none
    case byRule
    /// A size counts in the tree that has the file; where both have it, in the source.
    case bySize
}
