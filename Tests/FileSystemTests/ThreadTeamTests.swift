import FileSystem
import Glibc
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

    /// The others go on until they learn of it, and what they throw then is no news.
    @Test func theFirstErrorIsThrownWhenAllHaveEnded() throws {
        let members = Atomic(0)
        let hasFailed = Atomic(false)
        let ended = Atomic(0)
        #expect(throws: Failure(number: 1)) {
            try ThreadTeam.run(4) {
                let number = members.add(1, ordering: .relaxed).newValue
                defer { ended.add(1, ordering: .relaxed) }
                if number == 1 {
                    hasFailed.store(true, ordering: .relaxed)
                    throw Failure(number: 1)
                }
                while !hasFailed.load(ordering: .relaxed) { usleep(1000) }
                usleep(20_000)
                throw Failure(number: number)
            }
        }
        #expect(ended.load(ordering: .relaxed) == 4)
    }

    @Test func countsProcessorsThatItMayUse() {
        #expect(ThreadTeam.processors >= 1)
    }
}
