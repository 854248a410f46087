import FileSystem

extension UndoEntry {
    /// What the apply did, as actions of a plan.
    var applied: [Action] {
        let present = file.moved(to: from ?? file.path)
        // An undo brought it back from the history.
        if file.path.isInState { return verb == .move ? [Action(.create, present, causes: [.new])] : [] }
        // A stray, which the apply found as new.
        if isAssumed, !wasUncovered {
            return verb == .create ? [] : [Action(.create, present, causes: [.drift])]
        }
        switch verb {
        case .create: return [Action(.delete, file, causes: causes)]
        case .delete: return [Action(.create, file, causes: causes)]
        case .move where from == file.path: return []
        case .move: return [Action(.move, present, from: file.path, causes: [.renamed])]
        case .attributes: return [Action(.attributes, present, causes: causes)]
        case .cover, .uncover: return []
        case .update:
            var update = Action(.update, present, causes: causes)
            // Only the previous size is recorded.
            update.size = nil
            guard from != nil else { return [update] }
            return [Action(.move, present, from: file.path, causes: [.renamed]), update]
        }
    }
}

extension Action {
    /// One action per path: a delete and a create of one path become an update.
    static func joined(_ actions: [Action]) -> [Action] {
        let going = Dictionary(grouping: actions.filter { $0.verb == .delete }, by: \.path)
        let coming = Set(actions.lazy.filter { $0.verb == .create }.map(\.path))
        return actions.compactMap { action in
            guard coming.contains(action.path), let old = going[action.path]?.first else { return action }
            guard action.verb == .create else { return action.verb == .delete ? nil : action }
            var update = action
            update.verb = .update
            update.causes = [old.type == action.type ? .content : .type]
            return update
        }.sorted { ($0.path, $0.verb) < ($1.path, $1.verb) }
    }

    /// An entry that moved with its directory; its type is not recorded.
    init(carried path: RelativePath, from before: RelativePath) {
        self.init(
            .move,
            File(
                path: path, status: FileStatus(type: .file, modified: .init(seconds: 0, nanoseconds: 0)),
                destination: []),
            from: before, causes: [.renamed])
        size = nil
    }
}
