import FileStorage
import FsyncLite

/// Runs a command and tells of its error.
enum Execution {
    /// - Parameters:
    ///   - wantsDocument: standard output must have one JSON document, also after an error.
    ///   - check: refuses what a client may not do here.
    static func run(
        wantsDocument: Bool, _ invocation: () throws -> Invocation,
        checking check: (Invocation) throws -> Void = { _ in }
    ) -> ExitCode {
        var console = Console()
        console.wantsDocument = wantsDocument
        var next: NextCommand?
        do {
            let invocation = try invocation().reading()
            next = try NextCommand(invocation)
            try check(invocation)
            let code =
                try RemoteInvocation(invocation)?.run(&console)
                ?? invocation.command.run(invocation, &console)
            try console.flush()
            return code
        } catch {
            let code = ExitCode(reporting: error, advice: { next?.advice(after: [$0]) ?? [] })
            guard console.wantsDocument, !console.isBegun else { return code }
            console.discard()
            do {
                try ErrorDocument.write(error, code, to: &console)
                try console.flush()
            } catch {
                Console.complain("\(error)")
            }
            return code
        }
    }
}

extension Invocation {
    /// With the saved plan that it names.
    fileprivate func reading() throws -> Invocation {
        guard command == ApplyCommand.self, let file = options.value(SyncRun.savedPlan) else { return self }
        var read = self
        if client == nil { try LocalFile(bytes: file).checkIsRoots() }
        read.saved =
            try client?.command.document.map { try SavedPlan($0, path: file) }
            ?? SavedPlan(reading: LocalFile(bytes: file))
        return read
    }
}
