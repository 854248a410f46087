import Foundation
import FsyncLite
import TestSupport

let usage = """
    Usage: fuzz [--reader R]... [--inputs N] [--commands N] [--seed S] [--from I] [--huge] [--findings DIR]

    Tries the readers of documents that somebody hostile may have written. Readers: \
    \(DocumentKind.all.map(\.name).joined(separator: ", ")).

    """

struct Options {
    var kinds: [DocumentKind] = []
    var inputs = 0
    var commands = 0
    var seed: UInt64 = 1
    var from = 0
    var isHuge = false
    var findings = ".build/fuzz"
    var worker: String?

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func value() throws -> String {
            guard let value = rest.popFirst() else { throw Violation("a value is missing") }
            return value
        }
        func number<Number: FixedWidthInteger>() throws -> Number {
            let text = try value()
            guard let number = Number(text), number >= 0 else { throw Violation("\(text) is no number") }
            return number
        }
        while let option = rest.popFirst() {
            switch option {
            case "--reader":
                let name = try value()
                guard let kind = DocumentKind.all.first(where: { $0.name == name }) else {
                    throw Violation("no reader \(name)")
                }
                kinds.append(kind)
            case "--inputs": inputs = try number()
            case "--commands": commands = try number()
            case "--seed": seed = try number()
            case "--from": from = try number()
            case "--huge": isHuge = true
            case "--findings": findings = try value()
            case "--worker": worker = try value()
            default: throw Violation("unknown option \(option)")
            }
        }
        if kinds.isEmpty { kinds = DocumentKind.all }
    }
}

/// Prints at once to standard output, because a run takes minutes.
func say(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
}

do {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    let numbers = options.from..<options.from + options.inputs
    if let desk = options.worker {
        var progress = SyncProgress("\(desk).progress")
        let worker = try Worker(options.kinds[0], seed: options.seed, desk: desk)
        if options.isHuge {
            try worker.runHuge(numbers, &progress)
        } else {
            try worker.run(numbers, &progress)
        }
        exit(0)
    }
    let supervisor = try Supervisor(seed: options.seed, findings: options.findings)
    var tables: [(String, [Tally])] = []
    if options.inputs > 0, !options.isHuge {
        tables.append(("reader", try options.kinds.map { try supervisor.run($0, numbers) }))
    }
    if options.isHuge {
        let some = options.inputs > 0 ? numbers.clamped(to: HugeInput.all.indices) : HugeInput.all.indices
        tables.append(("huge documents", try options.kinds.map { try supervisor.run($0, some, huge: true) }))
    }
    if options.commands > 0 {
        let commands = try CommandFuzz(seed: options.seed, findings: options.findings)
        let range = options.from..<options.from + options.commands
        tables.append(("command", try options.kinds.map { try commands.run($0, range) }))
    }
    for (title, tallies) in tables { say("\n" + Tally.table(title, tallies)) }
    exit(tables.allSatisfy { $0.1.allSatisfy(\.isGood) } ? 0 : 1)
} catch let violation as Violation {
    FileHandle.standardError.write(Data("fuzz: \(violation)\n\(usage)".utf8))
    exit(64)
} catch {
    FileHandle.standardError.write(Data("fuzz: \(error)\n".utf8))
    exit(1)
}
