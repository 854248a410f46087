/// Growing memory whose elements never move: each chunk is as large as all before it together, so nothing is copied,
/// and the unused part of the last one costs no pages.
///
/// An element may be read while others are added, by a thread that got its index after the element was added. Additions
/// need a lock of the owner.
final class ChunkedMemory<Element: BitwiseCopyable> {
    /// Chunk `n` has `2 << n` elements.
    private let chunks: UnsafeMutablePointer<UnsafeMutablePointer<Element>?>
    /// The number of elements, including those skipped to keep runs contiguous.
    private(set) var count = 0

    private static var mostChunks: Int { Int.bitWidth - 2 }

    init() {
        chunks = .allocate(capacity: Self.mostChunks)
        chunks.initialize(repeating: nil, count: Self.mostChunks)
    }

    deinit {
        for chunk in 0..<Self.mostChunks { chunks[chunk]?.deallocate() }
        chunks.deallocate()
    }

    private static func location(_ index: Int) -> (chunk: Int, offset: Int) {
        let chunk = Int.bitWidth - 2 - (index + 2).leadingZeroBitCount
        return (chunk, index + 2 - (2 << chunk))
    }

    /// Reserves contiguous elements, and returns the index of the first.
    func append(_ number: Int, _ fill: (UnsafeMutablePointer<Element>) -> Void) -> Int {
        var (chunk, offset) = Self.location(count)
        while offset + number > 2 << chunk {
            (chunk, offset) = (chunk + 1, 0)
            count = (2 << chunk) - 2
        }
        let elements = chunks[chunk] ?? .allocate(capacity: 2 << chunk)
        chunks[chunk] = elements
        fill(elements + offset)
        defer { count += number }
        return count
    }

    func append(_ element: Element) -> Int { append(1) { $0.initialize(to: element) } }

    /// The elements from an index on, as far as they were added together.
    subscript(index: Int) -> UnsafeMutablePointer<Element> {
        let (chunk, offset) = Self.location(index)
        guard let elements = chunks[chunk] else { preconditionFailure("nothing has the index \(index)") }
        return elements + offset
    }
}
