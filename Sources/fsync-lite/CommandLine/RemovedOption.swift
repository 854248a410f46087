/// An option of earlier versions. A command line with it is refused with a hint. In settings it has no
/// effect, and is noted.
struct RemovedOption: Sendable {
    let name: String
    /// The reason why it is not needed.
    let reason: String

    static let all = [
        RemovedOption(
            name: "--reflink",
            reason: "an exchange links unchanged files into the new tree by itself, which uses no space"),
        RemovedOption(
            name: "--link", reason: "snapshot mount shows each snapshot without a copy"),
        RemovedOption(
            name: "--ignore-change-time",
            reason: "if only the change time of a file moved, one comparison settles it"),
    ]

    var key: String { OptionDescription.key(of: name) }
}
