import FileStorage
import FsyncLite
import TestSupport
import Testing

/// The examples of the library's article, compiled and run with its public interface alone.
struct LibraryArticleTests {
    struct Console: Monitor {
        func report(_ progress: SyncProgress) { print(progress.phase.rawValue, progress.entries) }
    }

    @Test func examplesDoWhatTheySay() throws {
        let temporary = try TemporaryDirectory()
        let source = "\(temporary.file)/source"
        let target = "\(temporary.file)/target"
        let missing = "\(temporary.file)/missing"
        let file = LocalFile("\(source)/a")
        try file.append("one")

        do {
            let synchronizer = Synchronizer(source: source, target: target)
            let report = try synchronizer.apply()
            switch report.outcome {
            case .committed, .unchanged, .prepared: print("\(report.summary.actions) actions")
            case .refused: for refusal in report.refusals { print(refusal.reason) }
            case .failed, .pending: print(report.error?.description ?? "")
            }
            #expect(report.outcome == .committed)
        }
        try file.append("two")
        #expect(
            try Synchronizer(source: source, target: target, monitor: Console()).apply().summary.update == 1)

        do {
            try LocalFile("\(source)/b.tmp").append("left out")
            try file.append("three")
            var options = SyncOptions()
            options.filters.exclude(Array("*.tmp".utf8))
            options.deleteLimit = .count(100)
            let plan = try Synchronizer(source: source, target: target, options: options).plan()
            for action in plan.actions { print(action.verb.rawValue, action.path, action.causes.names) }
            #expect(plan.summary.update == 1 && plan.summary.create == 0)
        }

        let history = try Target(path: target).snapshots()
        if let earlier = history.dropFirst().first {
            let restoration = Restoration(target: target, snapshot: earlier.id)
            let report = try Synchronizer(restoration).apply()
            print(report.outcome)
            #expect(report.outcome == .committed)
        }
        #expect(try LocalFile("\(target)/a").text() == "one")

        do {
            _ = try Synchronizer(source: missing, target: target).plan()
            Issue.record("a source that is not there")
        } catch let error as SyncError where error.code == .inputMissing {
            print("not there: \(error)")
        }
    }

    /// The example of the catalog's first page.
    private func firstPage() throws {
        let synchronizer = Synchronizer(source: "photos", target: "/mnt/backup/photos")

        let plan = try synchronizer.plan()
        for action in plan.actions { print(action.verb.rawValue, action.path) }

        let report = try synchronizer.apply()
        print(report.outcome)
    }

    @Test(arguments: [("Library", 20), ("FsyncLite", 5)])
    func pageHasTheseExamples(page: String, atLeast count: Int) throws {
        let article = try Article("Sources/FsyncLite/FsyncLite.docc/\(page).md", testedIn: #filePath)
        #expect(article.linesNotTested == [])
        #expect(article.lineCount > count)
    }
}
