import FileSystem

@testable import FsyncLite

// Values that tests of pure code are made of.

func path(_ text: String) -> RelativePath { RelativePath(text) ?? .root }

func seconds(_ seconds: Int64) -> FileTime { FileTime(seconds: seconds, nanoseconds: 0) }

func status(_ type: FileType) -> FileStatus { FileStatus(type: type, modified: seconds(1)) }

/// A value with a change.
func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
    var value = value
    change(&value)
    return value
}
