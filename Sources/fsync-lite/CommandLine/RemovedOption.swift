/// The options of earlier versions, and why they are not needed. A command line with one is refused with a hint. In
/// settings it has no effect, and is noted.
enum RemovedOption {
    static let all = [
        (
            name: "--reflink",
            reason: "an exchange links unchanged files into the new tree by itself, which uses no space"
        ),
        (name: "--link", reason: "snapshot mount shows each snapshot without a copy"),
        (
            name: "--ignore-change-time",
            reason: "if only the change time of a file moved, one comparison settles it"
        ),
    ]
}
