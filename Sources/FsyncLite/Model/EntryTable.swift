import FileSystem
import Synchronization

/// The entries that a run keeps, packed: 72 bytes each plus the last component of the path, and more for rare
/// properties. Directory names are shared. A `File` is created from an entry on demand.
///
/// Entries are added and never change.
///
/// - Note: `@unchecked`: additions hold the lock. Reading an element needs no lock, since it neither moves nor changes,
///   and other threads get its number only after it was added.
package final class EntryTable: @unchecked Sendable {
    private struct Entry: BitwiseCopyable {
        var status: PackedStatus
        /// The start of the name in `names`.
        var name: UInt32
        /// The number of the element in `rests`; 0 for none.
        var rest: UInt32
    }

    private let lock = Mutex(())
    private let entries = ChunkedMemory<Entry>()
    /// For each name: the start of its directory's name in four bytes, its length in one, and its bytes.
    private let names = ChunkedMemory<UInt8>()
    private let devices = ChunkedMemory<DeviceNumber>()
    /// Reading also needs the lock.
    private var rests: [Rest] = []
    /// The path that was added last, and for each of its components the end and the start of its name.
    private var path: [UInt8] = []
    private var components: [(end: Int, name: UInt32)] = []

    private static let root = UInt32.max
    private static let headerSize = 5
    private static let mostDevices = 2048

    /// Rare properties.
    private struct Rest {
        /// The status, if it cannot be packed.
        var status: FileStatus?
        var fields: File.Payload
    }

    package init() {}

    // MARK: Adding

    /// Adds an entry and returns its number; nil if the table is full, and the entry has to be stored elsewhere.
    func add(_ path: RelativePath, _ status: FileStatus, _ payload: File.Payload) -> UInt32? {
        lock.withLock { _ in
            guard entries.count < UInt32.max, names.count < Int(UInt32.max) / 2 else { return nil }
            let packed = device(status.device).flatMap { PackedStatus(status, device: $0) }
            var rest: UInt32 = 0
            if packed == nil || payload != File.Payload() {
                rests.append(Rest(status: packed == nil ? status : nil, fields: payload))
                rest = UInt32(rests.count)
            }
            return UInt32(
                entries.append(
                    Entry(status: packed ?? .empty, name: name(of: path.bytes), rest: rest)))
        }
    }

    /// The number of a device; nil if there are too many.
    private func device(_ device: DeviceNumber) -> UInt64? {
        for number in 0..<devices.count where devices[number].pointee == device { return UInt64(number) }
        guard devices.count < EntryTable.mostDevices else { return nil }
        return UInt64(devices.append(device))
    }

    /// Entries usually come in tree order, so the names shared with the previous path exist already.
    private func name(of path: [UInt8]) -> UInt32 {
        let shared = zip(self.path, path).prefix { $0 == $1 }.count
        while let last = components.last,
            last.end > shared || (last.end < path.count && path[last.end] != slash)
        {
            components.removeLast()
        }
        self.path = path
        var start = components.last.map { $0.end + 1 } ?? 0
        while start < path.count {
            let end = path[start...].firstIndex(of: slash) ?? path.count
            let name = append(path[start..<end], below: components.last?.name ?? EntryTable.root)
            components.append((end, name))
            start = end + 1
        }
        return components.last?.name ?? EntryTable.root
    }

    private func append(_ name: ArraySlice<UInt8>, below directory: UInt32) -> UInt32 {
        let start = names.append(EntryTable.headerSize + name.count) { memory in
            let raw = UnsafeMutableRawPointer(memory)
            raw.storeBytes(of: directory, as: UInt32.self)
            raw.storeBytes(of: UInt8(name.count), toByteOffset: 4, as: UInt8.self)
            let bytes = raw.advanced(by: EntryTable.headerSize)
            name.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(start: bytes, count: $0.count).copyBytes(from: $0)
            }
        }
        return UInt32(start)
    }

    // MARK: Reading

    func path(of number: UInt32) -> RelativePath {
        let last = entries[Int(number)].pointee.name
        var length = -1
        forEachName(from: last) { length += $0.count + 1 }
        guard length > 0 else { return .root }
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            var end = length
            forEachName(from: last) { name in
                end -= name.count
                for (index, byte) in name.enumerated() { buffer[end + index] = byte }
                if end > 0 {
                    end -= 1
                    buffer[end] = slash
                }
            }
            count = length
        }
        return RelativePath(validated: bytes)
    }

    /// Whether one entry's path sorts before the other's.
    func isInOrder(_ first: UInt32, _ second: UInt32) -> Bool {
        let (left, right) = (entries[Int(first)].pointee.name, entries[Int(second)].pointee.name)
        guard left != right else { return false }
        let (leftDepth, rightDepth) = (depth(of: left), depth(of: right))
        return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: leftDepth + rightDepth) { buffer in
            fill(buffer, upTo: leftDepth, from: left)
            fill(buffer, upTo: leftDepth + rightDepth, from: right)
            for level in 0..<min(leftDepth, rightDepth) {
                let (one, other) = (buffer[level], buffer[leftDepth + level])
                guard one != other else { continue }
                let (name, otherName) = (bytes(of: one), bytes(of: other))
                if name.elementsEqual(otherName) { continue }
                return name.lexicographicallyPrecedes(otherName)
            }
            return leftDepth < rightDepth
        }
    }

    private func depth(of last: UInt32) -> Int {
        var depth = 0
        forEachName(from: last) { _ in depth += 1 }
        return depth
    }

    private func fill(_ buffer: UnsafeMutableBufferPointer<UInt32>, upTo end: Int, from last: UInt32) {
        var (index, next) = (end, last)
        while next != EntryTable.root {
            index -= 1
            buffer[index] = next
            next = directory(of: next)
        }
    }

    private func forEachName(from last: UInt32, _ body: (UnsafeRawBufferPointer) -> Void) {
        var next = last
        while next != EntryTable.root {
            body(bytes(of: next))
            next = directory(of: next)
        }
    }

    private func bytes(of name: UInt32) -> UnsafeRawBufferPointer {
        let raw = UnsafeRawPointer(names[Int(name)])
        let count = raw.loadUnaligned(fromByteOffset: 4, as: UInt8.self)
        return UnsafeRawBufferPointer(start: raw + EntryTable.headerSize, count: Int(count))
    }

    private func directory(of name: UInt32) -> UInt32 {
        UnsafeRawPointer(names[Int(name)]).loadUnaligned(as: UInt32.self)
    }

    func status(of number: UInt32) -> FileStatus {
        let entry = entries[Int(number)].pointee
        if entry.rest > 0, let status = lock.withLock({ _ in rests[Int(entry.rest) - 1].status }) {
            return status
        }
        return entry.status.unpacked(devices[Int(entry.status.device)].pointee)
    }

    func payload(of number: UInt32) -> File.Payload {
        let rest = entries[Int(number)].pointee.rest
        return rest == 0 ? File.Payload() : lock.withLock { _ in rests[Int(rest) - 1].fields }
    }
}

private let slash = UInt8(ascii: "/")
