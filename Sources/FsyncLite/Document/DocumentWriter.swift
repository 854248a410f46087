import FileSystem

/// The output of a document.
package protocol ByteSink: ~Copyable {
    mutating func write(_ bytes: [UInt8]) throws
}

extension ByteSink where Self: ~Copyable {
    /// Writes the bytes gathered so far, and clears them.
    mutating func take(_ bytes: inout [UInt8]) throws {
        try write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }
}

extension PendingFile: ByteSink {}

extension [UInt8]: ByteSink {
    package mutating func write(_ bytes: [UInt8]) {
        append(contentsOf: bytes)
    }
}

/// Writes a document: one JSON value, whose arrays have one element per line.
///
///     document = "{" format "," version *("," field) "," LF *(array "," LF) field *("," field) "}" LF
///     array    = DQUOTE name DQUOTE ":[" [ LF line *("," LF line) LF ] "]"
///     line     = one JSON object without line breaks
///
/// With `checksum`, the last field is the checksum of all bytes before it.
package struct DocumentWriter: Sendable {
    /// The bytes that are not written out yet.
    package var text = JSONText()
    /// The checksum of all written bytes, and of the first `hashed` bytes of `text`.
    private var checksum = Checksum()
    private var hashed = 0
    private var isFirstElement = true

    /// Starts the document. `text.field` writes the other fields of the header.
    package init(format: String, version: Int = 1) {
        text.beginObject()
        text.field("format", format)
        text.field("version", version)
    }

    /// Ends the header or the previous array, and starts an array.
    package mutating func beginArray(_ name: StaticString) {
        text.raw(",\n")
        text.key(name)
        text.raw("[")
        isFirstElement = true
    }

    /// Starts an element: an object on a line of its own.
    package mutating func beginElement() {
        text.raw(isFirstElement ? "\n" : ",\n")
        isFirstElement = false
        text.beginObject()
    }

    package mutating func endElement() {
        text.endObject()
    }

    /// Appends an element that is already JSON.
    package mutating func append(element: UnsafeBufferPointer<UInt8>) {
        text.raw(isFirstElement ? "\n" : ",\n")
        isFirstElement = false
        text.append(element)
    }

    /// Ends an array. Another array or the closing fields must follow.
    package mutating func endArray() {
        text.raw(isFirstElement ? "]" : "\n]")
    }

    /// Writes a whole array with one object per value.
    package mutating func array<Values: Sequence>(
        _ name: StaticString, of values: Values, to sink: inout some ByteSink & ~Copyable,
        _ fields: (inout JSONText, Values.Element) throws -> Void
    ) throws {
        beginArray(name)
        for value in values {
            beginElement()
            try fields(&text, value)
            endElement()
            try drain(to: &sink)
        }
        endArray()
    }

    /// Starts the closing fields after the last array.
    package mutating func beginTrailer() {
        text.raw(",\n")
    }

    /// Ends the document. `drain` writes out the rest.
    package mutating func end(withChecksum: Bool) {
        if withChecksum {
            text.key("checksum")
            updateChecksum()
            text.value(checksum.text)
        }
        text.endObject()
        text.raw("\n")
    }

    /// Ends the document and writes out the rest.
    package mutating func end(
        withChecksum: Bool = false, to sink: inout some ByteSink & ~Copyable
    ) throws {
        end(withChecksum: withChecksum)
        try drain(to: &sink, all: true)
    }

    /// Writes out the gathered bytes if there are enough of them, or `all`.
    package mutating func drain(to sink: inout some ByteSink & ~Copyable, all: Bool = false) throws {
        guard all || text.bytes.count >= 128 * 1024 else { return }
        updateChecksum()
        try sink.write(text.bytes)
        text.clear()
        hashed = 0
    }

    private mutating func updateChecksum() {
        checksum.update(text.bytes[hashed...])
        hashed = text.bytes.count
    }
}
