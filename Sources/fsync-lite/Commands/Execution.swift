import FileStorage
import FsyncLite

/// Runs a command and reports its error.
enum Execution {
    /// The content of standard output after an error.
    enum ErrorForm {
        case nothing
        /// One JSON document.
        case document
        /// The line of a monitoring plugin. Standard error is empty.
        case nagios

        /// - Parameter arguments: a command line, which may be invalid.
        init(_ arguments: [[UInt8]]) {
            let words = arguments.prefix { !$0.spells("--") }
            func has(_ option: OptionDescription) -> Bool { words.contains { $0.spells(option.name) } }
            let isStatus = words.first?.spells(StatusCommand.name) ?? false
            self = isStatus && has(StatusCommand.nagios) ? .nagios : has(.json) ? .document : .nothing
        }
    }

    /// - Parameter check: throws if a client may not do this.
    static func run(
        _ form: ErrorForm, _ invocation: () throws -> Invocation,
        checking check: (Invocation) throws -> Void = { _ in }
    ) -> ExitCode {
        var console = Console()
        console.wantsDocument = form == .document
        var next: NextCommand?
        do {
            let invocation = try invocation().reading().naming()
            next = try NextCommand(invocation)
            try check(invocation)
            let code =
                try RemoteInvocation(invocation)?.run(&console)
                ?? invocation.command.run(invocation, &console)
            try console.flush()
            return code
        } catch  where form == .nagios {
            console.discard()
            do {
                let code = try StatusNagios.write(error, to: &console)
                try console.flush()
                return code
            } catch {
                Console.complain("\(error)")
                return .committedWithOmissions
            }
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
    /// With the target of the job that the command line names in place of a target.
    fileprivate func naming() throws -> Invocation {
        guard client == nil, let argument = command.description.arguments.first,
            argument.name == ArgumentDescription.target.name, argument.help == NamedTarget.help,
            !argument.isRepeated, let name = values(argument).first
        else { return self }
        let found = try NamedTarget(name, self)
        var named = self
        (named.arguments[argument.name], named.jobName) = ([found.path], found.job?.name)
        return named
    }

    /// Adds the saved plan that it names.
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
