import FileSystem
import Foundation
import Testing

struct HostProcessTests {
    @Test func aProcessHasAStart() throws {
        #expect(try HostProcess.start(of: getpid()) == HostProcess.start(of: getpid()))
        #expect(try HostProcess.start(of: 1) != HostProcess.start(of: getpid()))
        #expect(try HostProcess.start(of: .max) == nil)
    }

    /// It is in the list of processes until its parent waits for it.
    @Test func aProcessThatHasEndedHasNone() throws {
        var process = pid_t()
        let name = strdup("true")
        defer { free(name) }
        var arguments = [name, nil]
        try #require(posix_spawnp(&process, "true", nil, nil, &arguments, environ) == 0)
        defer { waitpid(process, nil, 0) }
        var info = siginfo_t()
        try #require(waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) == 0)
        #expect(kill(process, 0) == 0)
        #expect(try HostProcess.start(of: process) == nil)
    }
}
