/// A command line that does what somebody wants.
struct CommandExample: Sendable {
    let line: String
    let purpose: String

    init(_ line: String, _ purpose: String) {
        self.line = line
        self.purpose = purpose
    }
}
