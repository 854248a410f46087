import FsyncLite
import TestSupport
import Testing

/// The library's calls block. Some callers make them on Swift's pool, which has one thread per core.
struct BusyPoolTests {
    /// More calls at once than the pool has threads. If a call waited for the pool, this test would hang.
    @Test func appliesThatFillThePoolComeToAnEnd() async throws {
        let outcomes = try await withThrowingTaskGroup(of: Report.Outcome.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    let directory = try TemporaryDirectory(inMemory: true)
                    let source = "\(directory.path)/source"
                    try TreeLiteral.directory(["a": "1", "d": ["b": "2"]]).build(at: source)
                    let target = Array("\(directory.path)/target".utf8)
                    return try Synchronizer(source: Array(source.utf8), target: target).apply().outcome
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == Array(repeating: .committed, count: 64))
    }
}
