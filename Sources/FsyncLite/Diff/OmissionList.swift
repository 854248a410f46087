/// Attributes that the target cannot store: one problem per kind, for any number of entries.
struct OmissionList: Sendable {
    private static let names = Omissions.names + [(.unread, "unread")]
    private var found: [Omissions.RawValue: (first: RelativePath, count: Int)] = [:]

    var isEmpty: Bool { found.isEmpty }

    mutating func add(_ file: File) {
        for (omission, _) in OmissionList.names where file.omitted.contains(omission) {
            found[omission.rawValue, default: (file.path, 0)].count += 1
        }
    }

    var problems: [Problem] {
        OmissionList.names.compactMap { omission, name in
            guard let (first, count) = found[omission.rawValue] else { return nil }
            let others = count > 1 ? ", nor those of \(count - 1) more" : ""
            guard omission != .unread else {
                return Problem(
                    path: first, code: .attribute, message: "its extended attributes cannot be read\(others)")
            }
            let words: [Omissions.RawValue: String] = [
                Omissions.modified.rawValue: "modification time", Omissions.mode.rawValue: "permission bits",
                Omissions.owner.rawValue: "owner", Omissions.xattrs.rawValue: "extended attributes",
                Omissions.acls.rawValue: "ACLs", Omissions.links.rawValue: "other names",
            ]
            return Problem(
                path: first, code: .attribute,
                message: "the target cannot store its \(words[omission.rawValue] ?? name)\(others)")
        }
    }
}
