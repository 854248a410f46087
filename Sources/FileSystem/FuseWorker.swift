/// How a file was opened.
public enum FuseOpening: Sendable {
    /// The kernel may keep what it reads.
    case cached(UInt64)
    /// The kernel reads the file with this id by itself.
    case passed(UInt64, Int32)
}

/// Answers requests, on one thread. An error is the answer, too.
public protocol FuseWorker: AnyObject {
    func node(_ name: [UInt8], in directory: UInt64) throws(Errno) -> FuseNode
    func node(_ id: UInt64) throws(Errno) -> FuseNode
    func destination(of node: UInt64) throws(Errno) -> [UInt8]
    func extendedAttributes(of node: UInt64) throws(Errno) -> ExtendedAttributes
    func open(_ node: UInt64) throws(Errno) -> FuseOpening
    func read(_ handle: UInt64, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(Errno)
        -> Int
    func close(_ handle: UInt64)
    /// The start of the next data or hole of an open file; nil if there is none.
    func seek(_ handle: UInt64, of node: UInt64, _ offset: Int64, _ stretch: FileDescriptor.Stretch)
        throws(Errno)
        -> Int64?
    /// Adds entries of a directory to the list until it is full.
    ///
    /// - Parameter position: 0, or that of the last entry which the kernel has.
    func list(_ directory: UInt64, after position: UInt64, into list: inout FuseList) throws(Errno)
    /// The directory of which the space is shown.
    func place() throws(Errno) -> Directory
}
