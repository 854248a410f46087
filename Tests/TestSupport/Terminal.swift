import Foundation
import Synchronization

/// A terminal of a given width for the output of a command.
package final class Terminal: Sendable {
    private struct Unavailable: Error {}

    /// `TIOCSPTLCK` and `TIOCGPTN` of `asm-generic/ioctls.h`, which the Glibc module does not have.
    private static let setLock: UInt = 0x4004_5431
    private static let getNumber: UInt = 0x8004_5430

    private let main: Int32
    /// The end for the command.
    package let device: FileHandle
    private let received = Mutex<[UInt8]>([])
    private let hasEnded = DispatchSemaphore(value: 0)

    package init(columns: Int) throws {
        main = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (unlocked, number): (Int32, Int32) = (0, 0)
        guard main >= 0, ioctl(main, Terminal.setLock, &unlocked) == 0,
            ioctl(main, Terminal.getNumber, &number) == 0
        else { throw Unavailable() }
        let other = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard other >= 0 else { throw Unavailable() }
        device = FileHandle(fileDescriptor: other, closeOnDealloc: false)
        resize(columns: columns)
        // A thread must read, or the command would wait when the terminal is full.
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(main, &buffer, buffer.count)
                guard count > 0 else { break }
                received.withLock { $0 += buffer.prefix(count) }
            }
            hasEnded.signal()
        }
    }

    deinit {
        close(main)
    }

    package func resize(columns: Int) {
        var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(main, UInt(TIOCSWINSZ), &size)
    }

    /// The number of bytes so far.
    package var count: Int { received.withLock(\.count) }

    /// The whole output. The command must have ended.
    package func finish() throws -> String {
        try device.close()
        hasEnded.wait()
        return String(decoding: received.withLock(\.self), as: UTF8.self)
    }

    /// The states of a line that is drawn again and again, the present one last.
    package static func drawings(of output: some StringProtocol) -> [String] {
        output.components(separatedBy: "\r\u{1B}[K").dropFirst().map { String($0) }
    }
}
