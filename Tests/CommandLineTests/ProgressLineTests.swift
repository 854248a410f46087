import FileSystem
import FsyncLite
import Testing

@testable import fsync_lite

@Suite struct ProgressLineTests {
    private func line(
        _ phase: SyncProgress.Phase = .staging, bytes: (ByteCount, ByteCount?) = (0, nil),
        entries: (Int, Int?) = (0, nil),
        seconds: Double, width: Int
    ) -> String {
        var progress = SyncProgress(phase)
        (progress.bytes, progress.totalBytes) = bytes
        (progress.entries, progress.totalEntries) = entries
        return ProgressLine(progress: progress, elapsed: .seconds(seconds)).text(width: width)
    }

    @Test func tellsBytesEntriesRateAndTimeLeft() {
        #expect(
            line(bytes: (250_000_000, 1_000_000_000), entries: (12, 40), seconds: 10, width: 120)
                == "staging  [#######-----------------------]   25%  250.0 MB of 1.0 GB  12 of 40 files  25.0 MB/s"
                + "  0:30 left")
    }

    @Test func leavesOutWhatMattersLeastFirst() {
        func text(_ width: Int) -> String {
            line(bytes: (250_000_000, 1_000_000_000), entries: (12, 40), seconds: 10, width: width)
        }
        #expect(
            text(88)
                == "staging  [###---------]   25%  250.0 MB of 1.0 GB  12 of 40 files  25.0 MB/s  0:30 left"
        )
        #expect(text(60) == "staging   25%  250.0 MB of 1.0 GB  25.0 MB/s  0:30 left")
        #expect(text(40) == "staging  [##---------]   25%  0:30 left")
        #expect(text(16) == "staging   25%")
        #expect(text(8) == "staging")
        #expect(text(5) == "stag")
        #expect(text(1) == "")
        for width in 0...200 { #expect(text(width).count < max(1, width)) }
    }

    @Test func countsEntriesWhereNothingIsCopied() {
        #expect(
            line(entries: (10, 40), seconds: 1, width: 55)
                == "staging  [##--------]   25%  10 of 40 files  0:03 left")
        #expect(line(.scanning, entries: (1234, nil), seconds: 9, width: 80) == "scanning  1234 files")
        #expect(line(.syncing, seconds: 9, width: 80) == "syncing")
    }

    @Test func saysNothingOfTheTimeLeftAtFirst() {
        #expect(!line(bytes: (1, 1000), entries: (1, 2), seconds: 0.2, width: 100).contains("left"))
        #expect(line(bytes: (1, 100_000), entries: (1, 2), seconds: 1, width: 100).contains("27:46:39 left"))
        #expect(line(bytes: (0, 0), entries: (0, 0), seconds: 5, width: 100) == "staging  0 of 0 files")
    }
}
