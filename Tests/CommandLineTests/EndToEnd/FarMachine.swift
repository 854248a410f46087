import Foundation
import TestSupport

/// A command in ssh's place, which starts the far end on this machine.
///
/// Its last argument is the command line that ssh would give to the far shell.
struct FarMachine {
    let ssh: String
    private let directory: TemporaryDirectory
    /// The options that name it, and the built command as the far end.
    let options: [String]

    /// - Parameter lines: of a shell; `"$far"` is the command line of the far end.
    init(_ lines: String = #"exec sh -c "$far""#) throws {
        directory = try TemporaryDirectory()
        ssh = "\(directory.path)/ssh"
        let script = """
            #!/bin/sh
            for far; do :; done
            cd / || exit 1
            \(lines)

            """
        try script.write(toFile: ssh, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: ssh)
        options = ["--ssh", ssh, "--remote-command", try BuiltCommand.path()]
    }

    /// The same command line with its source on another machine.
    ///
    /// - Parameter directory: what the source is relative to.
    func pulling(_ arguments: [String], in directory: String) -> [String] {
        guard arguments.count > 2, ["apply", "plan"].contains(arguments[0]) else { return arguments }
        if arguments[1] == "--plan" { return arguments + options }
        guard !arguments[1].hasPrefix("-") else { return arguments }
        let source = arguments[1].hasPrefix("/") ? arguments[1] : "\(directory)/\(arguments[1])"
        return [arguments[0], "far:\(source)"] + arguments.dropFirst(2) + options
    }
}
