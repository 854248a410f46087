import FileSystem
import FoundationEssentials

/// What a stage holds for a later run: the files that were staged whole *and* are durable.
package struct StageRecord: Codable, Sendable, Equatable {
    package static let fileName = TargetState.Name.record.description

    package var version = 1
    /// The name of the stage's directory.
    package var transaction: String
    package var files: [StagedFile] = []

    /// A staged file, with what its source was like: only the very same source may use it.
    package struct StagedFile: Codable, Sendable, Equatable {
        /// The path in the tree, and below the stage's directory.
        package var path: Data
        package var place: Data
        package var source: Fingerprint
        /// The staged copy's own.
        package var inode: UInt64
    }

    /// All that a change of a file changes. Numbers, for there is one of these per file.
    package struct Fingerprint: Codable, Hashable, Sendable {
        package struct Time: Codable, Hashable, Sendable {
            package var seconds: Int64
            package var nanoseconds: Int32

            init(_ time: FileTime) {
                seconds = time.seconds
                nanoseconds = time.nanoseconds
            }
        }

        package var inode: UInt64
        package var created: Time?
        package var changed: Time
        package var modified: Time
        package var size: Int64

        package init(_ status: FileStatus) {
            inode = status.inode
            created = status.created.map(Time.init)
            changed = Time(status.changed)
            modified = Time(status.modified)
            size = status.size
        }
    }
}
