import FileStorage
import FileSystem

/// The names of a snapshot: its id, its short id, `latest`, `latest~2`, a label, the beginning of an id, or a time.
///
/// An id begins with a time, so the ids of one day look alike. A short id is the beginning of the id's SHA-256. It
/// begins with a letter, so that none looks like an age: `g` to `p` stand for 0 to 9.
public enum SnapshotName {
    /// The shortest short id that is shown. A shorter name that could be a time, such as `2026`, is a time.
    static let shortest = 8

    /// The first eight characters of the short id, which may not be unique.
    public static func short(_ id: String) -> String { short(id, shortest) }

    /// The same for a part of the history that is removed, which may be the old tree of an exchange.
    public static func short(part name: String) -> String {
        FileName(name.utf8).map(TransactionID.isName) == true ? short(name) : escapedText(name.utf8)
    }

    private static func short(_ id: String, _ length: Int) -> String {
        id == Snapshot.initialID ? id : String(decoding: digits(of: id).prefix(length), as: UTF8.self)
    }

    private static func digits(of id: String) -> [UInt8] {
        var (hash, digits) = (SHA256(), [] as [UInt8])
        hash.update(Array(id.utf8))
        Digest(hash.finish()).appendDigits(to: &digits)
        if digits[0] < UInt8(ascii: "a") { digits[0] += UInt8(ascii: "g") - UInt8(ascii: "0") }
        return digits
    }

    /// Gives all snapshots short ids of the length that makes them unique.
    static func shorten(_ snapshots: inout [Snapshot]) {
        var length = shortest
        while length < 64, Set(snapshots.map { short($0.id, length) }).count < snapshots.count { length += 1 }
        for index in snapshots.indices { snapshots[index].shortID = short(snapshots[index].id, length) }
    }

    /// The index of the named snapshot. For a label it is the newest with it, for a time the newest that is not later.
    ///
    /// - Parameter snapshots: newest first.
    /// - Throws: `SyncError`: `inputMissing` if there is none, `usage` for the beginning of several ids.
    static func index(of name: String, in snapshots: [Snapshot]) throws -> Int {
        if let step = stepsBack(name) {
            guard step < snapshots.count else {
                let known =
                    snapshots.count == 1
                    ? "the only snapshot is latest" : "the oldest snapshot is latest~\(snapshots.count - 1)"
                throw SyncError(.inputMissing, "there is no \(name): \(known)\(damage(in: snapshots))")
            }
            return step
        }
        let matches = snapshots.indices.filter { isName(name, of: snapshots[$0].id) }
        if let exact = matches.first(where: { snapshots[$0].id.utf8.elementsEqual(name.utf8) }) {
            return exact
        }
        if let labelled = snapshots.firstIndex(where: { $0.label == name }) { return labelled }
        if name.utf8.count < shortest || matches.isEmpty, let time = TimeSpan(name) {
            let index = snapshots.firstIndex {
                $0.created.map { $0 < time.end || $0 == time.start } ?? false
            }
            if let index { return index }
            throw SyncError(.inputMissing, "all snapshots are newer than \(name); see snapshot list")
        }
        guard let match = matches.first else {
            throw SyncError(
                .inputMissing,
                "there is no snapshot \(escapedText(name.utf8)). Give an id, a label, latest, latest~2 or a time. A time is "
                    + TimeSpan.forms + damage(in: snapshots))
        }
        guard matches.count == 1 else {
            let found = matches.prefix(10).map { index in
                let snapshot = snapshots[index]
                return "\(snapshot.shortID) (\(snapshot.created?.localText ?? escapedText(snapshot.id.utf8)))"
            }
            throw SyncError(
                .usage,
                "\(escapedText(name.utf8)) is the beginning of several ids; give more of one of them: "
                    + Amount.list(found, of: matches.count))
        }
        return match
    }

    /// The damage that ends the list, if any.
    private static func damage(in snapshots: [Snapshot]) -> String {
        snapshots.last?.damage.map { "; \($0)" } ?? ""
    }

    private static func isName(_ name: String, of id: String) -> Bool {
        !name.isEmpty
            && (id.utf8.starts(with: name.utf8)
                || id != Snapshot.initialID && digits(of: id).starts(with: name.utf8))
    }

    /// Whether a label is already a name of a snapshot.
    static func isInUse(_ label: String, in snapshots: [Snapshot]) -> Bool {
        stepsBack(label) != nil || snapshots.contains { $0.id == label || $0.shortID == label }
    }

    private static func stepsBack(_ name: String) -> Int? {
        if name == "latest" { return 0 }
        guard name.hasPrefix("latest~"), !name.hasPrefix("latest~+") else { return nil }
        return Int(name.dropFirst("latest~".count)).flatMap { $0 < 0 ? nil : $0 }
    }
}
