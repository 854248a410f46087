import FileSystem
import Synchronization
import Testing

struct ThreadTeamTests {
    private struct Failure: Error, Equatable {
        let number: Int
    }

    @Test(arguments: [-1, 0, 1, 2, 7]) func eachMemberRunsTheWork(count: Int) throws {
        let runs = Atomic(0)
        try ThreadTeam.run(count) { runs.add(1, ordering: .relaxed) }
        #expect(runs.load(ordering: .relaxed) == max(count, 1))
    }

    @Test func whatIsSharedIsDoneOnce() throws {
        let next = Atomic(0)
        let sum = Atomic(0)
        try ThreadTeam.run(4) {
            while true {
                let number = next.add(1, ordering: .relaxed).newValue
                guard number <= 10_000 else { return }
                sum.add(number, ordering: .relaxed)
            }
        }
        #expect(sum.load(ordering: .relaxed) == 50_005_000)
    }

    /// The others end first: nothing of theirs runs after.
    @Test func theFirstErrorIsThrownWhenAllHaveEnded() throws {
        let members = Atomic(0)
        let ended = Atomic(0)
        #expect(throws: Failure(number: 1)) {
            try ThreadTeam.run(4) {
                defer { ended.add(1, ordering: .relaxed) }
                if members.add(1, ordering: .relaxed).newValue == 1 { throw Failure(number: 1) }
            }
        }
        #expect(ended.load(ordering: .relaxed) == 4)
    }

    @Test func countsProcessorsThatItMayUse() {
        #expect(ThreadTeam.processors >= 1)
    }
}
