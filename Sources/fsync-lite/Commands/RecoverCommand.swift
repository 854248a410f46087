import FsyncLite

enum RecoverCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let target = Target(path: try invocation.argument("TARGET"))
        let outcome = try target.recover(
            undo: invocation.has("--back"), displacingConflicts: invocation.has("--displace"))
        switch outcome {
        case .nothingToDo:
            try console.line("nothing to recover")
        case .finished(let displaced):
            for error in displaced { Console.complain("\(error)") }
            try console.line("the interrupted commit is finished: the new tree is there")
        case .undone(let displaced):
            for error in displaced { Console.complain("\(error)") }
            try console.line("the interrupted commit is taken back: the old tree is there")
        }
        return .done
    }
}
