import FileStorage
import Foundation
import Glibc
import Testing

struct HostileTests {
    private let scratch: Scratch
    private var root: LocalFile { scratch.directory }
    init() throws { scratch = try Scratch() }

    @Test func fileLargerThanMemoryIsAnError() throws {
        let file = root + "sparse"
        try file.append("x")
        guard truncate(file.path, 15 << 40) == 0 else { return }
        #expect { try file.data() } throws: { ($0 as? SyncError)?.errno == ENOMEM }
    }

    @Test func keysAndNamesStayInTheDirectory() throws {
        let storage = try DiskStorage(in: root + "d")
        for key in ["..", "/etc/passwd", "", "a\0b", "../x", "a/b"] {
            #expect(throws: StorageError.self) { try storage.store(Data(), for: key) }
        }
        #expect(try root.children == [root + "d"])
        #expect { try (root + "x").replace(withText: "\u{e9}", encoding: .ascii) } throws: {
            "\($0)".contains("x: the encoding")
        }
    }
}
