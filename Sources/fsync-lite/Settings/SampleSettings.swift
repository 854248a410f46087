import FileStorage
import FsyncLite

/// The settings that `settings init` writes: every kind of key, in a job that does nothing until it is enabled.
extension UserSettings {
    static let sample = UserSettings(
        defaults: ["exclude_caches": .flag(false), "keep_going": .flag(false)],
        jobs: [
            "documents": [
                Job.comment: .text(
                    "Put your own paths, take \"\(Job.disabled)\" out, and see: fsync-lite plan --job documents "
                        + "--create-target. Then, once: fsync-lite run documents --create-target. "
                        + "After that: fsync-lite run --all"),
                Job.disabled: .flag(true),
                "source": .text("~/Documents"),
                "target": .text("/mnt/backup/documents"),
                "exclude": .list([.text("*.tmp"), .text(".cache/")]),
                "max_delete": .text("20%"),
                "keep_daily": .number(14),
                "keep_monthly": .number(12),
                Hook.Moment.before.rawValue: .list([.text("mountpoint"), .text("-q"), .text("/mnt/backup")]),
                Hook.Moment.onFailure.rawValue: .list([
                    .text("sh"), .text("-c"), .text("mail -s 'documents were not mirrored' root"),
                ]),
            ]
        ])
}
