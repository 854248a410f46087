import TestSupport
import Testing

/// How a run has to end.
extension CommandRun {
    /// It ended with this code, and each of these texts is on its stream. A failure shows the whole run.
    ///
    /// - Parameters:
    ///   - said: on standard error.
    ///   - printed: on standard output.
    ///   - what: what tells this run from others of the same words.
    @discardableResult
    func expect(
        _ code: Int32, says said: String..., prints printed: String..., of what: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> CommandRun {
        #expect(self.code == code, "\(what) \(self)", sourceLocation: sourceLocation)
        for text in said {
            #expect(errors.contains(text), "\(what) \(self)", sourceLocation: sourceLocation)
        }
        for text in printed {
            #expect(output.contains(text), "\(what) \(self)", sourceLocation: sourceLocation)
        }
        return self
    }

    /// What it printed, line by line.
    var lines: [String] { output.split(separator: "\n").map(String.init) }
}
