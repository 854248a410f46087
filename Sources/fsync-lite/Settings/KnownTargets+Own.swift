import FileStorage
import FileSystem
import FsyncLite

extension KnownTargets {
    static let variable = "FSYNC_LITE_STATE"

    /// The record of this user; nil if its place is unknown. Root's is always in one place: the environment
    /// may be that of the user who became root.
    static var own: KnownTargets? {
        if let chosen = HostProcess.environment(variable) {
            return chosen.hasPrefix("/") ? KnownTargets(in: LocalFile(chosen)) : nil
        }
        if Account.isRoot { return ofRoot }
        let home = SettingsSources.directory(in: "HOME").map { $0 + ".local" + "state" }
        return (SettingsSources.directory(in: "XDG_STATE_HOME") ?? home).map {
            KnownTargets(in: $0 + "fsync-lite")
        }
    }

    private static let ofRoot = KnownTargets(in: LocalFile("/var/lib/fsync-lite"))

    /// The records of this user and of root, because everybody may read a part of root's. If the environment
    /// chooses a record, only that one.
    static var readable: [KnownTargets] {
        let isChosen = HostProcess.environment(variable) != nil
        return [own].compactMap(\.self) + (isChosen || own == ofRoot ? [] : [ofRoot])
    }

    /// Records a target, so that a missing disk is noticed. An error is only a note: the target is in order.
    static func remember(_ target: Target, isQuiet: Bool = false) {
        guard let own else { return }
        do {
            try target.remember(in: own)
        } catch {
            if !isQuiet { Console.complain("note: this target is not recorded as known: \(error)") }
        }
    }

    /// A path of a known target, and whether it exists now.
    typealias Found = (path: [UInt8], lastApply: Timestamp, presence: Presence)

    /// The known targets, the newest last. The list is for people, so an unreadable record is only a note.
    static func found() -> [Found] {
        guard let own else { return [] }
        do {
            return try own.entries().compactMap { entry -> Found? in
                guard let path = entry.paths.last else { return nil }
                return (path, entry.lastApply, own.presence(of: entry))
            }
        } catch {
            Console.complain("note: the record of known targets cannot be read: \(error)")
            return []
        }
    }
}

extension KnownTargets.Presence {
    var words: String {
        switch self {
        case .there: "there"
        case .diskMissing: "not there: mount its disk"
        case .gone: "gone"
        case .unreadable: "cannot be read"
        }
    }
}
