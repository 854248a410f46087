import Foundation

/// A file on a file system in memory, whose bytes can be changed without moving a time, as by a bad disk. The
/// kernel moves the times at the first store to a page. While the page is dirty, it does not, and on this
/// file system a page remains dirty.
package final class MappedFile {
    private let memory: UnsafeMutableRawBufferPointer

    /// Makes the first store, of the same bytes, and restores the modification time.
    package init(_ path: String) throws {
        var status = stat()
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        guard descriptor >= 0, fstat(descriptor, &status) == 0,
            let start = mmap(
                nil, Int(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            start != MAP_FAILED
        else { throw CocoaError(.fileWriteUnknown) }
        memory = UnsafeMutableRawBufferPointer(start: start, count: Int(status.st_size))
        for index in memory.indices { memory[index] = memory[index] }
        try TreeTime(status.st_mtim).set(on: path)
    }

    deinit {
        munmap(memory.baseAddress, memory.count)
    }

    package func store(_ text: String) {
        memory.copyBytes(from: text.utf8.prefix(memory.count))
    }
}
