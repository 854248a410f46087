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

/// Also times without a packed form.
func randomTime(_ random: inout SplitMix64) -> FileTime {
    FileTime(
        seconds: Int64.random(in: -10_000_000_000...10_000_000_000, using: &random),
        nanoseconds: Int32.random(in: 0..<1_000_000_000, using: &random))
}

func randomStatus(_ random: inout SplitMix64) -> FileStatus {
    var status = FileStatus(
        type: FileType.allCases.randomElement(using: &random) ?? .file, modified: randomTime(&random))
    status.permissions = UInt16.random(in: 0...0o7777, using: &random)
    (status.owner, status.group, status.links) = (
        UInt32.random(in: 0 ... .max, using: &random), UInt32.random(in: 0 ... .max, using: &random),
        UInt32.random(in: 0 ... .max, using: &random)
    )
    (status.inode, status.size) = (
        random.next(), ByteCount(clamping: Int64.random(in: 0 ... .max, using: &random))
    )
    status.allocated = ByteCount(clamping: Int64.random(in: 0 ... .max, using: &random))
    (status.device, status.changed) = (DeviceNumber(major: 7, minor: 9), randomTime(&random))
    if random.oneIn(2) { status.created = randomTime(&random) }
    if random.oneIn(4) { status.represents = DeviceNumber(major: 1, minor: 2) }
    status.isMountRoot = random.oneIn(2)
    status.isImmutable = random.oneIn(2)
    status.isAppendOnly = random.oneIn(2)
    status.isEncrypted = random.oneIn(2)
    return status
}
