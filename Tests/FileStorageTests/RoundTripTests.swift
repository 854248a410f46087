import FileStorage
import Foundation
import TestSupport
import Testing

private struct Item: Codable, Equatable {
    var madeAt: String?
    var note = ""
    enum CodingKeys: String, CodingKey {
        case madeAt = "made_at"
        case note = "Note-Text"
    }
}

private struct Underscored: Codable, Equatable {
    var _id = 1
    var snake_case = 2
    var plainName: Int? = 3
}

private indirect enum Chain: Codable, Equatable {
    case end
    case link(Chain)
}

private enum Shape: Codable, Equatable {
    case point
    case circle(radius: Double)
    case named(String, corners: [Int])
}

private struct Everything: Codable, Equatable {
    var bool = true
    var (i8, i16, i32, i64) = (Int8.min, Int16.min, Int32.min, Int64.min)
    var (u8, u16, u32, u64) = (UInt8.max, UInt16.max, UInt32.max, UInt64.max)
    var float: Float = 0.1
    var double = 0.1
    var decimal = Decimal(string: "12.345")!
    var date = Date(timeIntervalSince1970: 1_700_000_000.123_456)
    var data = Data([0, 255])
    var url = URL(string: "https://example.org/a?b=c")!
    var shapes = [Shape.point, .circle(radius: 1.5), .named("x", corners: [1])]
    var byKey = ["a.b": 1, "": 2, "x/y": 3, "made_at": 4, "keepMe": 5, "\u{1}\"\\": 6]
    var byNumber = [3: "three"]
    var item = Item(madeAt: "now", note: "é\n")
    var missing: Int?
    var list: [Int?] = [1, nil]

    private enum CodingKeys: CodingKey {
        case bool, i8, i16, i32, i64, u8, u16, u32, u64, float, double, decimal, date, data, url, shapes,
            byKey
        case byNumber, item, missing, list
    }

    init() {}

    static func random(_ generator: inout some RandomNumberGenerator) -> Everything {
        var value = Everything()
        value.i64 = .random(in: .min ... .max, using: &generator)
        value.u64 = .random(in: .min ... .max, using: &generator)
        value.float = Float(bitPattern: .random(in: 0...0x7F7F_FFFF, using: &generator))
        value.double = Double(bitPattern: .random(in: 0...0x7FEF_FFFF_FFFF_FFFF, using: &generator))
        value.date = Date(timeIntervalSinceReferenceDate: .random(in: -1e11...1e12, using: &generator))
        value.data = Data((0..<7).map { _ in .random(in: 0...255, using: &generator) })
        let scalars = (0..<5).compactMap { _ in
            Unicode.Scalar(UInt32.random(in: 0...0x2FFF, using: &generator))
        }
        value.item.note = String(String.UnicodeScalarView(scalars))
        value.byKey[value.item.note] = .random(in: .min ... .max, using: &generator)
        return value
    }
}

struct RoundTripTests {
    private let temporary = try! TemporaryDirectory()
    private var root: LocalFile { temporary.file }

    private func roundTrip<Value: Codable & Equatable>(_ value: Value) throws {
        for base in [MemoryStorage(), try DiskStorage(in: root)] as [any Storage] {
            let storage = CodableStorage(base)
            try storage.store(value, for: "k")
            #expect(try storage.value(Value.self, for: "k") == value)
        }
        let file = root + "file.json"
        try file.replace(withJSON: value)
        #expect(try file.json(Value.self) == value)
    }

    @Test func valueComesBackWithItsOwnCodingKeys() throws {
        try roundTrip(Item(madeAt: "x"))
        try roundTrip(Item())
        try roundTrip(Underscored())
        try (root + "other.json").replace(withText: #"{"madeAt": "x"}"#)
        struct Other: Decodable { var madeAt: String }
        #expect(try (root + "other.json").json(Other.self).madeAt == "x")
    }

    @Test func datesComeBackEqualAndInOrder() throws {
        let now = Date()
        let dates = (0..<1000).map { now.addingTimeInterval(Double($0) * 1e-6) }
        try roundTrip(dates)
        try roundTrip([
            Date.distantPast, .distantFuture, Date(timeIntervalSince1970: -1.5),
            Date(timeIntervalSinceReferenceDate: 0.1), Date(timeIntervalSinceReferenceDate: 1e-10),
            Date(timeIntervalSinceReferenceDate: -1e-20), Date(timeIntervalSinceReferenceDate: 1e15),
        ])
        try (root + "d.json").replace(
            withText: #"["2023-11-14T22:13:20Z", "2023-11-14T22:13:20.25Z"]"#)
        let read = try (root + "d.json").json([Date].self)
        #expect(read.map(\.timeIntervalSince1970) == [1_700_000_000, 1_700_000_000.25])
    }

    @Test func deepValueComesBackOrIsRefused() throws {
        var chain = Chain.end
        for _ in 0..<100 { chain = .link(chain) }
        try roundTrip(chain)
        for _ in 0..<400 { chain = .link(chain) }
        #expect(throws: StorageError.self) { try CodableStorage(MemoryStorage()).store(chain, for: "k") }
    }

    @Test func snakeCaseRefusesWhatWouldNotComeBack() throws {
        let storage = MemoryStorage()
        let documents = CodableStorage(storage, keys: .snakeCase)
        #expect(throws: StorageError.self) { try documents.store(Item(madeAt: "x"), for: "i") }
        #expect(throws: StorageError.self) { try documents.store(Underscored(), for: "u") }
        #expect(try storage.keys().isEmpty)
    }

    @Test func everyValueComesBack() throws {
        var generator = SystemRandomNumberGenerator()
        try roundTrip(Everything())
        for _ in 0..<100 { try roundTrip(Everything.random(&generator)) }
    }

    /// Finding the lines is slower than decoding. So a duplicate key is noticed only beside another mistake.
    @Test func onlyAMistakeMakesTheLinesBeLookedFor() throws {
        let storage = MemoryStorage()
        let values = CodableStorage(storage)
        try storage.store(Data("{\"a\": 1,\n\"a\": 1}".utf8), for: "k")
        #expect(try values.value([String: Int].self, for: "k") == ["a": 1])
        #expect { try values.value([String: String].self, for: "k") } throws: {
            "\($0)".contains("line 2, column 1: a: The key is there twice, first on line 1.")
        }
    }

    /// A list of numbers and null cannot be a property list.
    @Test func settingsOfEveryTypeComeBack() throws {
        struct Settings: Codable, Equatable, Sendable {
            var i64 = Int64.min
            var u64 = UInt64.max
            var double = 0.1
            var big = 1e300
            var date = Date(timeIntervalSince1970: 1_700_000_000.5)
            var data = Data([1, 2])
            var byName = ["a b": [1.5, 2]]
            var text = "<&>\"\u{e9}"
        }
        for name in SettingsFile<Settings>.names {
            let file = root + name + "d" + name
            try SettingsFile.create(Settings(), at: file)
            #expect(try file.text().contains("by_name"))
            let settings = try #require(try SettingsFile<Settings>.readIfPresent(in: file.parent))
            #expect(settings.content == Settings())
            #expect(settings.location(of: ["by_name", "a b"]).hasPrefix("\(file):"))
        }
        struct Nulls: Codable, Sendable { var list: [Int?] = [nil] }
        let file = root + "n.plist"
        #expect(throws: SyncError.self) { try SettingsFile.create(Nulls(), at: file) }
        #expect(try !file.exists)
    }
}
