/// A command that failed on another machine, which has said why.
struct FarFailure: Error, CustomStringConvertible {
    let code: ExitCode

    var description: String { "it failed on the other machine, with exit code \(code.rawValue)" }
}
