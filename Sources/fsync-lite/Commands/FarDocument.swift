import FsyncLite

extension RemoteInvocation {
    /// Runs a reading command on another machine.
    ///
    /// - Parameters:
    ///   - invocation: its options say how to reach the machine.
    ///   - take: called with each part of the standard output, on another thread.
    /// - Returns: the exit code.
    static func fetch(
        _ command: any Command.Type, _ path: [UInt8], _ options: GivenOptions, beside invocation: Invocation,
        showsErrors: Bool, _ take: @escaping @Sendable (ArraySlice<UInt8>) throws -> Void
    ) throws -> ExitCode {
        guard let argument = command.remoteTarget else { return .usage }
        var asked = Invocation(
            program: invocation.program, command: command, arguments: [argument.name: [path]],
            options: options)
        for option in OptionDescription.remote where invocation.options.has(option) {
            asked.options.append(option, invocation.options.value(option))
        }
        let terminal = FarTerminal(showsErrors: showsErrors, take)
        guard let code = try RemoteInvocation(asked, isDecided: true)?.run(terminal) else {
            return .unreachable
        }
        if let failure = terminal.failure { throw failure }
        return ExitCode(rawValue: code) ?? .unreachable
    }
}

extension Tree {
    /// A tree of this machine, or the manifest of a tree on another machine, which is fetched.
    init(_ path: [UInt8], for invocation: Invocation) throws {
        guard invocation.client == nil, try SyncRun.endpoint(path) != nil else {
            try self.init(path: path)
            return
        }
        let manifest = try FetchedManifest()
        var options = GivenOptions()
        options.append(ManifestExportCommand.format, Array("manifest".utf8))
        let code = try RemoteInvocation.fetch(
            ManifestExportCommand.self, path, options, beside: invocation, showsErrors: true,
            manifest.append)
        guard code == .done || code == .committedWithOmissions else { throw FarFailure(code: code) }
        self.init(manifest, path: path)
    }
}
