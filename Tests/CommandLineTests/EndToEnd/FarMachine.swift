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
    /// What is on the other machine, for `far`.
    private let side: Side

    enum Side { case source, target }

    /// - Parameter lines: of a shell; `"$far"` is the command line of the far end.
    init(_ lines: String = #"exec sh -c "$far""#, has side: Side = .source) throws {
        self.side = side
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

    /// The same command line with its source or its target on another machine.
    ///
    /// - Parameter directory: what both are relative to.
    func reaching(_ arguments: [String], in directory: String) -> [String] {
        guard arguments.count > 2, ["apply", "plan"].contains(arguments[0]) else { return arguments }
        if arguments.contains("--plan") { return arguments + options }
        let index = side == .source ? 1 : 2
        guard !arguments[1...index].contains(where: { $0.hasPrefix("-") }) else { return arguments }
        let path = arguments[index].hasPrefix("/") ? arguments[index] : "\(directory)/\(arguments[index])"
        return arguments[..<index] + ["far:\(path)"] + arguments[(index + 1)...] + options
    }
}
