/// A command failed on another machine, which has printed the reason.
struct FarFailure: Error, CustomStringConvertible {
    let code: ExitCode

    var description: String { "it failed there, with exit code \(code.rawValue)" }
}
