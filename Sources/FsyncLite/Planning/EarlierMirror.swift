/// What an earlier tree of a target was the mirror of.
struct EarlierMirror: Sendable, Equatable {
    let filters: FilterSummary
    let attributes: MirroredAttributes
    let sources: [ManifestHeader.Source]
}
