import FileStorage
import Foundation
import TestSupport
import Testing

struct SettingsUseTests {
    private struct Preferences: Codable, Sendable, Equatable {
        struct Window: Codable, Sendable, Equatable {
            var width = 800
            var title: String? = "a"
        }
        enum Look: Codable, Sendable, Equatable {
            case light
            case dark(contrast: Int)
        }
        var fontSize: Int?
        var scale: Double?
        var made: Date?
        var window = Window()
        var look = Look.light
    }

    private struct Small: Codable, Sendable, Equatable {
        var fontSize: Int?
        var scale: Double?
        var made: Date?
    }

    private let temporary = try! TemporaryDirectory()
    private var root: LocalFile { temporary.file }

    private func read(_ text: String, _ name: String = "settings.json") throws -> Small? {
        try (root + name).replace(withText: text)
        return try SettingsFile<Small>.readIfPresent(in: root)?.content
    }

    @Test func misspeltKeyIsAnErrorWithItsLine() throws {
        #expect { try read("{\n\"font_szie\": 12}") } throws: {
            "\($0)".contains("line 2") && "\($0)".contains("font_szie: The key is unknown")
        }
        #expect(try read(#"{"font_size": 12, "scale": null}"#) == Small(fontSize: 12))
        #expect(throws: SyncError.self) { try read(#"{"fontSize": 12}"#) }
    }

    @Test(arguments: [
        (
            "{\n\"font_size\":\n 1e30}",
            "line 2, column 1: font_size: A whole number from -9223372036854775808"
        ),
        ("{\n\"font_size\": 1.5}", "line 2, column 1: font_size: A whole number from"),
        (
            "{\"scale\": 1,\n\"font_size\": -9223372036854775809}",
            "line 2, column 1: font_size: A whole number"
        ),
        ("{\"font_size\": 12,\n\"scale\": 1e999}", "line 2, column 1: scale: A number that is nearer to 0"),
    ])
    func numberThatDoesNotFitIsAnErrorWithItsLine(_ text: String, _ message: String) throws {
        #expect { try read(text) } throws: { "\($0)".contains(message) }
    }

    @Test func numberThatDoesNotFitInAListHasItsOwnLine() throws {
        struct Sizes: Codable, Sendable {
            var list: [UInt8] = []
            var byName: [String: Int8] = [:]
        }
        let file = root + "settings.json"
        for (text, message) in [
            (
                "{\"list\": [1,\n2,\n300,\n400]}",
                "line 3, column 1: list[2]: A whole number from 0 to 255 is needed."
            ),
            (
                "{\"list\": [],\n\"by_name\": {\n\"a\": 128}}",
                "line 3, column 1: by_name.a: A whole number from -128"
            ),
        ] {
            try file.replace(withText: text)
            #expect { try SettingsFile<Sizes>.readIfPresent(in: root) } throws: {
                "\($0)".contains(message)
            }
            #expect { try SettingsFile.read(in: root, defaults: Sizes()) } throws: {
                "\($0)".contains(message)
            }
        }
    }

    /// A key that is read and written under different names is known.
    @Test func oldNameOfAKeyIsKnown() throws {
        struct Renamed: Codable, Sendable {
            var size: Int
            enum CodingKeys: CodingKey { case size, width }
            init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: CodingKeys.self)
                size =
                    try values.decodeIfPresent(Int.self, forKey: .width)
                    ?? values.decode(Int.self, forKey: .size)
            }
            func encode(to encoder: any Encoder) throws {
                var values = encoder.container(keyedBy: CodingKeys.self)
                try values.encode(size, forKey: .size)
            }
        }
        try (root + "settings.json").replace(withText: #"{"width": 5}"#)
        #expect(try SettingsFile<Renamed>.readIfPresent(in: root)?.content.size == 5)
    }

    private func list(_ items: String) -> String {
        "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict>\n\(items)\n</dict></plist>\n"
    }

    @Test func propertyListIsReadAsTheTypeAsks() throws {
        let read = try read(
            list("<key>scale</key><real>1.5</real><key>made</key><date>2023-11-14T22:13:20Z</date>"),
            "settings.plist")
        #expect(read == Small(scale: 1.5, made: Date(timeIntervalSince1970: 1_700_000_000)))
        #expect { try self.read(list("<key>scael</key><real>1.5</real>"), "settings.plist") } throws: {
            "\($0)".contains("line 3") && "\($0)".contains("scael")
        }
    }

    /// The keys of one dictionary are separate from those of the next.
    @Test func dictionariesInAListAreEachTheirOwn() throws {
        struct Jobs: Codable, Sendable, Equatable {
            struct Job: Codable, Sendable, Equatable {
                var name = ""
                var sizes: [Int]? = [1, 2]
            }
            var jobs = [Job(name: "a"), Job(name: "b", sizes: nil)]
        }
        for name in SettingsFile<Jobs>.names {
            try SettingsFile.create(Jobs(), at: root + name)
            #expect(try SettingsFile<Jobs>.readIfPresent(in: root)?.content == Jobs())
            try (root + name).delete()
        }
        let first = "<key>jobs</key><array><dict><key>name</key><string>a</string></dict>"
        for (second, message) in [
            ("<dict>\n<key>name</key><true/></dict></array>", "line 4, column 2: jobs[1].name: A text"),
            ("<!-- <dict> <key>name</key> -->\n<true/></array>", "line 4, column 2: jobs[1]: An object"),
            (
                "<dict>\n<key>name</key><string>b</string>\n<key>name</key><string>b</string></dict></array>",
                "line 5, column 2: jobs[1].name: The key is there twice, first on line 4."
            ),
        ] {
            try (root + "settings.plist").replace(withText: list(first + second))
            #expect { try SettingsFile<Jobs>.readIfPresent(in: root) } throws: {
                "\($0)".contains(message)
            }
        }
    }

    @Test func textOfAPropertyListIsNoMarkup() throws {
        let text = "<key>made</key><date>2023-11-14T22:13:20Z</date><key>names</key><array><string>"
        struct Named: Codable, Sendable { var made: Date?, names: [String] }
        try (root + "settings.plist").replace(
            withText: list(text + "<![CDATA[<key>made</key>]]>&lt;</string></array>"))
        #expect(
            try SettingsFile<Named>.readIfPresent(in: root)?.content.names == ["<key>made</key><"])
    }

    @Test func binaryPropertyListIsReadAndStaysOne() throws {
        struct Written: Encodable { var font_size = 12, made = Date(timeIntervalSinceReferenceDate: 0.5) }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let file = root + "settings.plist"
        try file.replace(with: encoder.encode(Written()))
        var settings = try #require(try SettingsFile<Small>.readIfPresent(in: root))
        #expect(settings.content.fontSize == 12)
        #expect(settings.content.made == Date(timeIntervalSinceReferenceDate: 0.5))
        settings.content.fontSize = 13
        try settings.write()
        #expect(try file.data().starts(with: Data("bplist".utf8)))
        #expect(try SettingsFile<Small>.readIfPresent(in: root)?.content.fontSize == 13)
    }

    @Test func missingKeysAndMissingFileHaveDefaults() throws {
        let defaults = Preferences(fontSize: 10, look: .dark(contrast: 3))
        var settings = try SettingsFile.read(in: root, defaults: defaults)
        #expect(settings.content == defaults)
        settings.content.window.width = 1
        try settings.write()
        let file = root + "settings.json"
        try file.replace(withText: #"{"window": {"width": 5}, "look": {"light": {}}, "font_size": null}"#)
        let read = try SettingsFile.read(in: root, defaults: defaults)
        #expect(read.content == Preferences(window: .init(width: 5), look: .light))
        for (text, width) in [("{}", 800), (" {\n} ", 800), ("{ \"window\" : { \"width\" : 5 } }", 5)] {
            try file.replace(withText: text)
            let read = try SettingsFile.read(in: root, defaults: Preferences(fontSize: 10))
            #expect(read.content == Preferences(fontSize: 10, window: .init(width: width)))
        }
        try file.replace(withText: #"{"windwo": {}}"#)
        #expect(throws: SyncError.self) { try SettingsFile.read(in: root, defaults: defaults) }
    }
}
