import Foundation

/// A process. Foundation's class notices its end only every 50 ms.
package final class SpawnedProcess {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let identifier: pid_t
    private var ending: Int32?

    /// - Parameters:
    ///   - words: the command, searched in PATH unless it contains a slash, and its arguments.
    ///   - environment: nil for that of the tests.
    ///   - input: a file that it reads.
    ///   - output: a descriptor; nil for `/dev/null`. The same is true for `errors`.
    package init(
        _ words: [String], in directory: String? = nil, environment: [String: String]? = nil,
        input: String = "/dev/null", output: Int32? = nil, errors: Int32? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
        for (number, descriptor) in [(STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            } else {
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0)
            }
        }
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        if let directory { posix_spawn_file_actions_addchdir_np(&actions, directory) }

        // A child inherits the blocked and ignored signals.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let variables = environment.map { $0.map { "\($0)=\($1)" } }
        var process = pid_t()
        let code = SpawnedProcess.withPointers(words) { arguments in
            guard let variables else {
                return posix_spawnp(&process, words[0], &actions, &attributes, arguments, environ)
            }
            return SpawnedProcess.withPointers(variables) {
                posix_spawnp(&process, words[0], &actions, &attributes, arguments, $0)
            }
        }
        guard code == 0 else {
            throw Failure(description: "\(words[0]): \(String(cString: strerror(code)))")
        }
        identifier = process
    }

    package var isRunning: Bool {
        if ending == nil { look(WNOHANG) }
        return ending == nil
    }

    /// Sends it a signal if it is running.
    package func send(_ signal: Int32) {
        if isRunning { kill(identifier, signal) }
    }

    /// Waits for its end. It is killed if that takes too long, so that a test fails instead of hanging.
    ///
    /// - Returns: the exit code. If a signal ended it, it is the negative number of the signal.
    package func wait(seconds: Double = 600) -> Int32 {
        let isLate = DispatchWorkItem { [identifier] in kill(identifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds, execute: isLate)
        while ending == nil { look(0) }
        isLate.cancel()
        return ending ?? -1
    }

    private func look(_ options: Int32) {
        var status: Int32 = 0
        let found = waitpid(identifier, &status, options)
        guard found == identifier else {
            if found < 0, errno != EINTR { ending = 255 }
            return
        }
        let signal = status & 0x7F
        ending = signal == 0 ? (status >> 8) & 0xFF : -signal
    }

    private static func withPointers<Value>(
        _ words: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
    ) -> Value {
        let pointers = words.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
