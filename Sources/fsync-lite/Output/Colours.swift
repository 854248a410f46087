import FileSystem
import FsyncLite

/// Colours of lines, on a terminal whose user did not turn them off.
struct Colours {
    private let isOn: Bool

    /// `NO_COLOR` counts when it is not empty: https://no-color.org.
    static let ofStandardOutput = Colours(
        isOn: StandardStream.output.understandsEscapes
            && HostProcess.environment("NO_COLOR")?.isEmpty ?? true)

    func colour(_ text: String, as verb: Action.Verb) -> String {
        guard isOn else { return text }
        let code =
            switch verb {
            case .create: 32
            case .update: 33
            case .attributes: 36
            case .move: 34
            case .delete: 31
            }
        return "\u{1B}[\(code)m\(text)\u{1B}[0m"
    }
}
