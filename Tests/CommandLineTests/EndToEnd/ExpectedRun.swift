import TestSupport
import Testing

/// Checks of how a run ended.
extension CommandRun {
    /// Checks the exit code and the texts on each stream. A failure shows the whole run.
    ///
    /// - Parameters:
    ///   - code: nil where only the texts matter.
    ///   - said: on standard error.
    ///   - printed: on standard output.
    ///   - what: distinguishes this run from others with the same words.
    @discardableResult
    func expect(
        _ code: Int32? = nil, says said: String..., prints printed: String..., of what: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> CommandRun {
        if let code { #expect(self.code == code, "\(what) \(self)", sourceLocation: sourceLocation) }
        for text in said {
            #expect(errors.contains(text), "\(what) \(self)", sourceLocation: sourceLocation)
        }
        for text in printed {
            #expect(output.contains(text), "\(what) \(self)", sourceLocation: sourceLocation)
        }
        return self
    }

    /// The lines of its standard output.
    var lines: [String] { output.split(separator: "\n").map(String.init) }
}
