import FileSystem
import Synchronization

/// Collects lines of an append-only file and appends them in batches on a thread of its own. So adding a line never
/// waits for the disk. Appended lines are removed from memory.
final class LineLog<Element: Sendable>: Sendable {
    private struct Pending {
        var elements: [Element] = []
        var hasThread = false
        var isOver = false
    }

    private let pending = Mutex(Pending())
    /// Locked while a batch is appended, so that batches do not overlap.
    private let appending = Mutex(())
    private let interval: Duration
    private let append: @Sendable ([Element]) throws -> Void
    private let onFailure: @Sendable (any Error) -> Void
    private let thread = WorkerThread()
    private let closing = Alarm()

    /// - Parameters:
    ///   - interval: the time between two batches; at least ten times the duration of the last one.
    ///   - onFailure: receives the error of the first batch that failed, unless `flush` throws it. Later elements are
    ///     dropped.
    ///   - append: appends a batch to the file. All its elements were added before the call.
    init(
        interval: Duration = .seconds(5), onFailure: @escaping @Sendable (any Error) -> Void,
        append: @escaping @Sendable ([Element]) throws -> Void
    ) {
        (self.interval, self.onFailure, self.append) = (interval, onFailure, append)
    }

    deinit {
        closing.ring()
    }

    func add(_ element: Element) {
        let isFirst = pending.withLock { pending in
            guard !pending.isOver else { return false }
            pending.elements.append(element)
            defer { pending.hasThread = true }
            return !pending.hasThread
        }
        if isFirst { beginThread() }
    }

    /// Appends the pending elements now.
    func flush() throws {
        try appending.withLock { _ in
            let batch = pending.withLock { pending in
                defer { pending.elements = [] }
                return pending.elements
            }
            guard !batch.isEmpty else { return }
            do {
                try append(batch)
            } catch {
                end()
                throw error
            }
        }
    }

    /// Ends appending and drops the pending elements. Waits for a running batch.
    func close() {
        end()
        appending.withLock { _ in }
    }

    private func end() {
        closing.ring()
        pending.withLock { pending in
            pending.isOver = true
            pending.elements = []
        }
    }

    private func beginThread() {
        do {
            try thread.start { [weak self, closing, interval] in
                var pause = interval
                while !closing.wait(pause) {
                    guard let self else { return }
                    let start = ContinuousClock.now
                    do {
                        try self.flush()
                    } catch {
                        self.onFailure(error)
                    }
                    pause = max(interval, start.duration(to: .now) * 10)
                }
            }
        } catch {
            end()
            onFailure(error)
        }
    }
}

extension FileDescriptor {
    /// Reads lines, without their line feeds, until `body` returns false. An incomplete last line is ignored. Reading
    /// ends at a line of more than a mebibyte.
    func readLines(_ body: (ArraySlice<UInt8>) -> Bool) throws(Errno) {
        var text: [UInt8] = []
        while text.count <= 1 << 20 {
            let part = try [UInt8](upTo: 64 * 1024) { (buffer) throws(Errno) -> Int in try read(into: buffer)
            }
            guard !part.isEmpty else { return }
            text += part
            var start = 0
            while let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) {
                guard body(text[start..<end]) else { return }
                start = end + 1
            }
            text.removeFirst(start)
        }
    }
}
