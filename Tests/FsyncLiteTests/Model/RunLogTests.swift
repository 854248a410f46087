import FileStorage
import FsyncLite
import TestSupport
import Testing

struct RunLogTests {
    let temporary = try! TemporaryDirectory()
    var root: LocalFile { temporary.file }

    @Test func runLogAddsOneLinePerRun() throws {
        let file = root + "logs/run.log"
        try RunLog(file, line: "first").append()
        try RunLog(file, line: "second\nline C:\\x").append()
        #expect(try file.text() == "first\nsecond\\nline C:\\x\n")
    }
}
