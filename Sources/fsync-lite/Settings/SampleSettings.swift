import FileStorage
import FsyncLite

/// The settings that `settings init` writes. They have every kind of key, in a job that is disabled.
extension UserSettings {
    static let sample = UserSettings(
        defaults: ["exclude_caches": .bool(false), "keep_going": .bool(false)],
        jobs: [
            "documents": [
                Job.comment: .string(
                    "Write your own paths, remove \"\(Job.disabled)\", and preview it: fsync-lite plan --job documents "
                        + "--create-target. Then, once: fsync-lite run documents --create-target. "
                        + "After that: fsync-lite run --all"),
                Job.disabled: .bool(true),
                "source": .string("~/Documents"),
                "target": .string("/mnt/backup/documents"),
                "exclude": .array([.string("*.tmp"), .string(".cache/")]),
                "max_delete": .string("20%"),
                "keep_daily": .int(14),
                "keep_monthly": .int(12),
                Hook.Moment.before.rawValue: .array([
                    .string("mountpoint"), .string("-q"), .string("/mnt/backup"),
                ]),
                Hook.Moment.onFailure.rawValue: .array([
                    .string("sh"), .string("-c"), .string("mail -s 'documents were not mirrored' root"),
                ]),
            ]
        ])
}
