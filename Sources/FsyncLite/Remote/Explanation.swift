import FileStorage
import FileSystem

/// Which filter decides about a path of a source on another machine.
extension RemoteTree {
    /// - Parameter type: the target's, for a path that the source has not.
    func explain(_ path: RelativePath, ifMissing type: FileType?, _ monitor: any Monitor) throws -> String {
        let answer = try link.ask(.explain) { frame in
            frame.bytes(path.bytes)
            frame.byte((type ?? .file).rawValue)
        }
        return try link.reading {
            var reader = try answer.end(monitor)
            let decision = try reader.text()
            try reader.end()
            return singleLine(decision)
        }
    }
}

extension Service.Session {
    /// The one request with a path. A target may name only the path that this user asks about: it must not learn what is
    /// left out.
    func sendDecision(_ id: UInt32, _ request: inout FrameReader) throws {
        let path = try request.path()
        let missing = try request.type()
        try request.end()
        if case .only(_, _, let explained) = access, path != explained {
            throw SyncError(.notServed("it was not asked about here"), path: path.bytes)
        }
        let status = try PathResolver(tree.root).status(of: path)
        let decision =
            try FilterDecision.reserved(path, isJoined: tree.root.isJoined)
            ?? filters.decisions(by: tree.rules())(path, status?.type ?? missing, status?.size ?? 0)
        var frame = FrameWriter(.answer)
        frame.text("\(decision)".shortened)
        try end(id, frame)
    }
}
