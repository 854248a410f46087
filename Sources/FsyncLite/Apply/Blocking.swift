import Dispatch
import Synchronization

/// Waits, on a thread that may block, for what is done elsewhere. Never on Swift's pool.
enum Blocking {
    static func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let done = DispatchSemaphore(value: 0)
        let outcome = Outcome<Value>()
        Task {
            do {
                outcome.set(.success(try await work()))
            } catch {
                outcome.set(.failure(error))
            }
            done.signal()
        }
        done.wait()
        return try outcome.get()
    }

    /// What the work came to, on its way from one thread to the other.
    private final class Outcome<Value: Sendable>: Sendable {
        private let result = Mutex<Result<Value, any Error>?>(nil)

        func set(_ value: Result<Value, any Error>) {
            result.withLock { $0 = value }
        }

        func get() throws -> Value {
            guard let result = result.withLock({ $0 }) else {
                preconditionFailure("signalled without a result")
            }
            return try result.get()
        }
    }
}
