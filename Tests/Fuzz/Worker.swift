import FileStorage
import FsyncLite
import Glibc
import TestSupport

/// Tries documents one after the other, in its own process. Its supervisor survives whatever a reader does.
struct Worker {
    let kind: DocumentKind
    let seed: UInt64
    let desk: Desk

    /// An address space that is large enough unless there is a defect.
    static let memory: UInt = 2 << 30
    /// Seconds for one document.
    static let patience: UInt32 = 10
    static let patienceForHuge: UInt32 = 120

    init(_ kind: DocumentKind, seed: UInt64, desk: String) throws {
        self.kind = kind
        self.seed = seed
        var limit = rlimit(rlim_cur: Worker.memory, rlim_max: Worker.memory)
        guard setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else {
            throw TreeError("setrlimit", "RLIMIT_AS")
        }
        var noCore = rlimit(rlim_cur: 0, rlim_max: 0)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &noCore)
        self.desk = try Desk(desk)
    }

    func run(_ numbers: Range<Int>, _ progress: inout SyncProgress) throws {
        for number in numbers {
            try progress.begin(number)
            let input = Input(kind, seed: seed, number: number)
            try desk.put(input.bytes, kind)
            try judge(input.expectation, number, &progress)
        }
        try progress.save()
    }

    /// Documents that are too large for any memory.
    func runHuge(_ numbers: Range<Int>, _ progress: inout SyncProgress) throws {
        for number in numbers {
            try progress.begin(number)
            try HugeInput.all[number].write(kind, seed, desk.path(kind))
            try judge(.either, number, &progress, patience: Worker.patienceForHuge)
        }
        try progress.save()
    }

    private func judge(
        _ expectation: Input.Expectation, _ number: Int, _ progress: inout SyncProgress,
        patience: UInt32 = Worker.patience
    ) throws {
        // Its signal ends the process, which is reported as a document without end.
        alarm(patience)
        defer { alarm(0) }
        do {
            try kind.read(desk)
            progress.accepted += 1
            if case .refused = expectation { progress.wrong(number, "taken, though it is damaged") }
        } catch {
            progress.refused += 1
            if case .taken = expectation { progress.wrong(number, "refused, though it is valid: \(error)") }
            if let complaint = complaint(error) { progress.wrong(number, complaint) }
        }
    }

    /// The fault of a refusal; nil if it gives the file, the line, and the cause on one line.
    private func complaint(_ error: any Error) -> String? {
        if let violation = error as? Violation { return "taken: \(violation)" }
        guard let error = error as? SyncError else {
            return "an error of another type: \(type(of: error)) \(error)"
        }
        guard error.code == .invalidDocument else { return "the code \(error.code.rawValue): \(error)" }
        guard error.path == Array(desk.path(kind).utf8) else { return "it does not name the file: \(error)" }
        if kind.isSealed, error.message.wholeMatch(of: /line \d+: .+/) == nil {
            return "it does not name the line: \(error)"
        }
        guard
            error.description.unicodeScalars.allSatisfy({
                $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value)
            })
        else { return "control characters in the message: \(error.description.debugDescription)" }
        return nil
    }
}

/// The progress of a worker, in a file that outlives it.
struct SyncProgress {
    private let path: String
    var number = 0
    var accepted = 0
    var refused = 0
    private(set) var complaints: [String] = []
    private(set) var wrong = 0

    init(_ path: String) {
        self.path = path
    }

    mutating func begin(_ number: Int) throws {
        self.number = number
        // Saved before each document, because that may be the last one.
        try save()
    }

    mutating func wrong(_ number: Int, _ text: String) {
        wrong += 1
        if complaints.count < 20 { complaints.append("\(number) \(text.replacing("\n", with: " "))") }
    }

    func save() throws {
        let text = (["\(number) \(accepted) \(refused) \(wrong)"] + complaints).joined(separator: "\n")
        try Files.write(Array(text.utf8), to: path)
    }

    /// Reads the progress of a worker that has ended.
    init(reading path: String) throws {
        self.path = path
        let lines = String(decoding: try Files.read(path), as: UTF8.self).split(separator: "\n")
        let numbers = (lines.first ?? "").split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 4 else { throw TreeError("the progress in", path) }
        (number, accepted, refused, wrong) = (numbers[0], numbers[1], numbers[2], numbers[3])
        complaints = lines.dropFirst().map(String.init)
    }
}
