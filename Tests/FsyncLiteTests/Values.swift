import FileSystem
import TestSupport

@testable import FsyncLite

// Values for tests of pure code.

func path(_ text: String) -> RelativePath { RelativePath(text) ?? .root }

func seconds(_ seconds: Int64) -> FileTime { FileTime(seconds: seconds, nanoseconds: 0) }

func status(_ type: FileType) -> FileStatus { FileStatus(type: type, modified: seconds(1)) }

extension OperationGraph {
    /// The objects that leave for good, by their old paths.
    var displaced: [(path: RelativePath, object: Int)] {
        objects.indices.filter { objects.items[$0].origin == .leaving }.map { (objects.oldPath($0), $0) }
    }
}

func file(_ name: String, _ inode: UInt64 = 0, _ type: FileType = .file) -> File {
    File(path: path(name), status: with(status(type)) { $0.inode = inode }, destination: [])
}

/// A value with a change.
func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
    var value = value
    change(&value)
    return value
}

/// A status in which all fields vary.
func randomStatus(_ random: inout SplitMix64) -> FileStatus {
    var status = random.file(.root, random.pick(FileType.allCases)).status
    (status.inode, status.links) = (random.next(), UInt32(truncatingIfNeeded: random.next()))
    status.owner = UInt32(truncatingIfNeeded: random.next())
    status.group = UInt32(truncatingIfNeeded: random.next())
    status.size = ByteCount(clamping: Int64.random(in: 0 ... .max, using: &random))
    status.allocated = ByteCount(clamping: Int64.random(in: 0 ... .max, using: &random))
    status.device = DeviceNumber(major: 7, minor: 9)
    if random.oneIn(4) { status.represents = DeviceNumber(major: 1, minor: 2) }
    status.isMountRoot = random.oneIn(2)
    status.isImmutable = random.oneIn(2)
    status.isAppendOnly = random.oneIn(2)
    status.isEncrypted = random.oneIn(2)
    return status
}
