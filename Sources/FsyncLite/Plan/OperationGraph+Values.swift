import FileSystem

// The values in a graph.

extension OperationGraph {
    package struct Location: Hashable, Sendable {
        package var parent: Int
        package var name: FileName

        package init(parent: Int, name: FileName) {
            (self.parent, self.name) = (parent, name)
        }
    }

    package struct Object: Hashable, Sendable {
        package var old: Location?
        package var slot: Location?
        package var new: Location?
        /// Known from the scan, or found when the journal is made.
        package var identity: FileIdentity?
        /// The status that the scan saw, checked again before the first operation.
        package var seen: FileStatus?

        package init(
            old: Location? = nil, slot: Location? = nil, new: Location? = nil, identity: FileIdentity? = nil,
            seen: FileStatus? = nil
        ) {
            (self.old, self.slot, self.new, self.identity, self.seen) = (old, slot, new, identity, seen)
        }
    }

    package enum Operation: Hashable, Sendable {
        /// Old location to slot.
        case detach(Int)
        /// A staged object and the one that has its location.
        case exchange(Int, with: Int)
        /// Slot to new location, which is free.
        case attach(Int)
        /// Old location to new location, which is free.
        case rename(Int)
        /// One more name for an object that remains.
        case link(Link)
    }

    /// A new name of an object that remains.
    package struct Link: Hashable, Sendable {
        package var object: Int
        package var location: Location

        package init(object: Int, location: Location) {
            self.object = object
            self.location = location
        }
    }

    /// Attributes to be set at the end, as absolute values.
    package struct AttributeChange: Hashable, Sendable {
        package var object: Int
        /// nil: the object's attributes when the journal is made. The operations on its entries change them.
        package var old: Attributes?
        package var new: Attributes?

        package init(object: Int, old: Attributes? = nil, new: Attributes? = nil) {
            (self.object, self.old, self.new) = (object, old, new)
        }
    }
}

extension OperationGraph.Object {
    init(fixed location: OperationGraph.Location) {
        old = location
        new = location
    }
}
