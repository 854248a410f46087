public protocol NamedFile { var name: String { get } }
