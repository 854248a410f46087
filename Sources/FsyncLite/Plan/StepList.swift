import FileSystem

/// The steps of a saved plan, in order: derived from the plan, or packed as they were read.
package struct StepList: RandomAccessCollection, Hashable, Sendable {
    @Boxed private var plan: Plan?
    private var packed = PackedList<StepCoding>()

    package init(_ steps: some Sequence<SavedPlan.Step> = []) {
        plan = nil
        for step in steps { append(step) }
    }

    init(of plan: Plan) {
        self.plan = plan
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { plan?.actions.count ?? packed.count }

    package subscript(index: Int) -> SavedPlan.Step {
        guard let plan else { return packed[index] }
        var action = plan.actions[index]
        // The size is only for people. The state of the target has it, too.
        action.sizeBefore = nil
        let (source, target) = plan.actions.files(at: index)
        return SavedPlan.Step(
            action: action, source: source?.status.planned, target: target?.status.planned)
    }

    mutating func append(_ step: SavedPlan.Step) { packed.append(step) }

    package static func == (left: StepList, right: StepList) -> Bool { left.elementsEqual(right) }
    package func hash(into hasher: inout Hasher) { for step in self { hasher.combine(step) } }
}

package enum StepCoding: PackedCoding {
    package typealias Element = SavedPlan.Step

    private struct Parts: OptionSet {
        let rawValue: UInt8

        static let size = Parts(rawValue: 1)
        static let link = Parts(rawValue: 2)
        static let entries = Parts(rawValue: 4)
        static let source = Parts(rawValue: 8)
        static let target = Parts(rawValue: 16)
    }

    package static func path(of step: Element) -> RelativePath { step.action.path }
    package static func otherPath(of step: Element) -> RelativePath? { step.action.from }

    package static func pack(_ step: Element, into store: inout PackedStore) {
        let (action, source, target) = (step.action, step.source, step.target)
        var parts: Parts = []
        if action.size != nil { parts.insert(.size) }
        if action.link != nil { parts.insert(.link) }
        if action.entries != nil { parts.insert(.entries) }
        if source != nil { parts.insert(.source) }
        if target != nil { parts.insert(.target) }
        store.put(byte: parts.rawValue)
        store.put(Action.Verb.allCases.firstIndex(of: action.verb) ?? 0)
        store.put(FileType.allCases.firstIndex { $0.documentName == action.type } ?? 0)
        store.put(UInt64(action.causes.rawValue))
        if let size = action.size { store.put(UInt64(bitPattern: size.rawCount)) }
        if let link = action.link { store.put(link.bytes) }
        if let entries = action.entries { store.put(entries) }
        if let source { store.put(source) }
        if let target { store.put(target, like: source) }
    }

    package static func unpack(
        _ cursor: inout PackedStore.Cursor, _: Void, at path: RelativePath, other: RelativePath?,
        _ store: PackedStore
    ) -> SavedPlan.Step {
        let parts = Parts(rawValue: cursor.byte())
        var action = Action.blank
        (action.path, action.from) = (path, other)
        action.verb = Action.Verb.allCases[cursor.integer()]
        action.type = FileType.allCases[cursor.integer()].documentName
        action.causes = Causes(rawValue: UInt16(truncatingIfNeeded: cursor.number()))
        if parts.contains(.size) { action.size = ByteCount(clamping: cursor.number()) }
        if parts.contains(.link) {
            action.link = RelativePath(validated: Array(cursor.bytes(cursor.integer())))
        }
        if parts.contains(.entries) { action.entries = cursor.integer() }
        let source = parts.contains(.source) ? store.status(&cursor) : nil
        let target = parts.contains(.target) ? store.status(&cursor, like: source) : nil
        return SavedPlan.Step(action: action, source: source, target: target)
    }
}

extension FileStatus {
    /// The state of an object in a saved plan; equal states mean the same unchanged object. Only files have a size in
    /// it, and that is its only sign of the type.
    var planned: FileStatus {
        var status = FileStatus(type: type == .file ? .file : .directory, modified: modified)
        (status.changed, status.inode, status.created) = (changed, inode, created)
        if type == .file { status.size = size }
        return status
    }
}
