/// A value that its copies have in common: what is passed on is a reference, however large it is.
final class Shared<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

extension Shared: Equatable where Value: Equatable {
    static func == (left: Shared, right: Shared) -> Bool { left === right || left.value == right.value }
}

extension Shared: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
