import Foundation
import TestSupport

/// The results for the documents of one kind.
struct Tally {
    let name: String
    var inputs = 0
    var accepted = 0
    var refused = 0
    var wrong = 0
    var crashes = 0
    var hangs = 0

    var isGood: Bool { wrong == 0 && crashes == 0 && hangs == 0 }

    static func table(_ title: String, _ tallies: [Tally]) -> String {
        func row(_ name: String, _ cells: [String]) -> String {
            name.padding(toLength: 24, withPad: " ", startingAt: 0)
                + cells.map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }.joined()
        }
        let head = row(title, ["inputs", "accepted", "refused", "wrong", "crashes", "hangs"])
        let rows = tallies.map {
            row(
                $0.name,
                [$0.inputs, $0.accepted, $0.refused, $0.wrong, $0.crashes, $0.hangs].map(String.init))
        }
        return ([head] + rows).joined(separator: "\n")
    }
}

/// Runs workers. A document that ends one is saved in a file named after its seed and number.
struct Supervisor {
    let seed: UInt64
    let findings: String
    private let scratch: TemporaryDirectory

    /// After so many crashes, a reader is known to be bad.
    private static let mostCrashes = 10

    init(seed: UInt64, findings: String) throws {
        self.seed = seed
        self.findings = findings
        scratch = try TemporaryDirectory(inMemory: true)
    }

    func run(_ kind: DocumentKind, _ numbers: Range<Int>, huge: Bool = false) throws -> Tally {
        var tally = Tally(name: kind.name, inputs: numbers.count)
        var next = numbers.lowerBound
        while next < numbers.upperBound, tally.crashes + tally.hangs < Supervisor.mostCrashes {
            let desk = "\(scratch.path)/\(kind.name)"
            try? FileManager.default.removeItem(atPath: desk)
            let ending = try work(kind, next..<numbers.upperBound, desk, huge: huge)
            let progress = try SyncProgress(reading: "\(desk).progress")
            tally.accepted += progress.accepted
            tally.refused += progress.refused
            tally.wrong += progress.wrong
            for complaint in progress.complaints {
                let number = Int(complaint.prefix { $0 != " " }) ?? 0
                let document = huge ? [] : Input(kind, seed: seed, number: number).bytes
                try keep(kind, number, document, huge: huge, "wrong", complaint)
            }
            next = numbers.upperBound
            if let signal = ending {
                let what = signal == SIGALRM ? "hang" : "crash"
                if signal == SIGALRM { tally.hangs += 1 } else { tally.crashes += 1 }
                let errors = String(decoding: try Files.read("\(desk).errors").prefix(2000), as: UTF8.self)
                // This document ended the worker. Making it again might end this process, too.
                let document = huge ? [] : try Files.read("\(desk)/\(kind.place)")
                let cause = "signal \(signal)\n\(errors)"
                try keep(kind, progress.number, document, huge: huge, what, cause)
                next = progress.number + 1
            }
        }
        try? FileManager.default.removeItem(atPath: "\(scratch.path)/\(kind.name)")
        say("\(kind.name): \(tally.accepted + tally.refused) documents tried")
        return tally
    }

    /// - Returns: the signal that ended the worker; nil if it finished.
    private func work(
        _ kind: DocumentKind, _ numbers: Range<Int>, _ desk: String, huge: Bool
    ) throws -> Int32? {
        let words = [
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"), "--worker", desk,
            "--reader", kind.name, "--seed", "\(seed)", "--from", "\(numbers.lowerBound)", "--inputs",
            "\(numbers.count)",
        ]
        try Files.write([], to: "\(desk).errors")
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(desk).errors"))
        // A backtrace of each crash takes seconds.
        let environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        let code = try SpawnedProcess(
            words + (huge ? ["--huge"] : []), environment: environment, errors: errors.fileDescriptor
        ).wait(seconds: 86_400)
        if code < 0 { return -code }
        guard code == 0 else {
            throw Violation(
                "the worker failed: \(String(decoding: try Files.read("\(desk).errors"), as: UTF8.self))")
        }
        return nil
    }

    /// Saves a document, and prints how to try it again.
    private func keep(
        _ kind: DocumentKind, _ number: Int, _ document: [UInt8], huge: Bool, _ what: String, _ text: String
    ) throws {
        let again =
            "scripts/fuzz --reader \(kind.name) --seed \(seed) --from \(number) --inputs 1"
            + (huge ? " --huge" : "")
        var file = "no file: \(HugeInput.all.indices.contains(number) ? HugeInput.all[number].name : "")"
        if !huge {
            try FileManager.default.createDirectory(atPath: findings, withIntermediateDirectories: true)
            file = "\(findings)/\(what)-\(kind.name)-seed-\(seed)-input-\(number)"
            try Files.write(document, to: file)
        }
        say("\(what): \(kind.name): \(text)\n    \(file)\n    \(again)")
    }
}
