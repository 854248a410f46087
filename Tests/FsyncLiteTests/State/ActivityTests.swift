import Testing

@testable import FsyncLite

@Suite("The activity of a run")
struct ActivityTests {
    @Test func timeOfAPhaseIsWhereItBegan() throws {
        let began = try #require(Timestamp(iso8601: "2026-01-01T00:00:00Z"))
        var activity = try Activity(began: began)
        let staging = activity.phaseBegan
        #expect(activity.began == began && staging > began)
        var progress = SyncProgress(.staging)
        progress.bytes = 1
        activity.update(progress)
        #expect(activity.phaseBegan == staging && activity.progress.bytes == 1)
        while Timestamp.now == staging {}
        activity.update(SyncProgress(.committing))
        #expect(activity.phaseBegan > staging && activity.began == began)
    }
}
