/// A command failed on another machine, which has printed the reason.
struct FarFailure: Error, CustomStringConvertible {
    let code: ExitCode

    var description: String { "it failed on the other machine, with exit code \(code.rawValue)" }
}
