/// A large value in an allocation of its own: a copy of what holds it is one reference. It is copied when it is changed
/// while others have it.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
    private var box: [Value]

    package init(wrappedValue: Value) { box = [wrappedValue] }

    package var wrappedValue: Value {
        _read { yield box[0] }
        _modify { yield &box[0] }
    }
}
