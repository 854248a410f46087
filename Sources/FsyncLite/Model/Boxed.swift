/// A large value in an allocation of its own, so that a copy of its owner copies one reference. If others have the
/// value when it is changed, it is copied.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
    private var box: [Value]

    package init(wrappedValue: Value) { box = [wrappedValue] }

    package var wrappedValue: Value {
        _read { yield box[0] }
        _modify { yield &box[0] }
    }
}
