import FileStorage
import Testing

struct SourceMapTests {
    private static let badText =
        "line 2, column 2: a string with a control character, an unknown escape or invalid UTF-8"

    /// Each text, and the error with its position.
    @Test(arguments: [
        ("", "line 2, column 1: the JSON ends early"),
        ("{\n\"a\": {}", "line 3, column 1: the JSON ends early"),
        ("{\"a\": [1,\n", "line 2, column 1: the JSON ends early"),
        ("{}\n\n{}", "line 3, column 1: there is text after the end"),
        ("{\"a\": 1\n\"b\": 2}", "line 2, column 1: expected ,"),
        ("{\"a\"\n1}", "line 2, column 1: expected :"),
        ("{\"a\": 1,\n}", "line 2, column 1: expected \""),
        ("[1,\n]", "line 2, column 1: this is no JSON value"),
        ("[1\n2]", "line 2, column 1: expected ,"),
        ("{\n\"a\": True}", "line 2, column 6: this is no JSON value"),
        ("{\n\"a\": yes}", "line 2, column 6: this is no JSON value"),
        ("{\n\"\u{e9}\": yes}", "line 2, column 6: this is no JSON value"),
        ("{\n\"a: 1}", "line 2, column 2: a string without end"),
        ("[\n\"a\\", "line 2, column 2: a string without end"),
        ("[\n\"a\\\n\"]", badText),
        ("[\n\"\t\"]", badText),
        ("[\n\"\\q\"]", badText),
        ("[\n\"\\ud800\"]", badText),
        ("{\"a\": 1,\n\"\\u0061\": 2}", "line 2, column 1: a: The key is there twice, first on line 1."),
        (
            "{\"a\": [{\n\"b\": 1, \"b\": 2}]}",
            "line 2, column 9: a[0].b: The key is there twice, first on line 2."
        ),
    ])
    func mistakesInJSONNameThePosition(text: String, message: String) {
        #expect { try SourceMap(json: Array(text.utf8)) } throws: { "\($0)" == message }
    }

    @Test func bytesThatAreNoTextNameTheLine() {
        #expect { try SourceMap(json: Array("[\n\"".utf8) + [0xFF] + Array("\"]".utf8)) } throws: {
            "\($0)" == Self.badText
        }
    }

    @Test func deepNestingIsRefused() throws {
        let text = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        _ = try SourceMap(json: Array(text.utf8), deepest: 64)
        #expect { try SourceMap(json: Array("[\(text)]".utf8), deepest: 64) } throws: {
            "\($0)" == "line 1, column 65: nested too deeply"
        }
        let list = String(repeating: "<dict>", count: 64)
        #expect(throws: SyncError.self) { try SourceMap(propertyList: Array(list.utf8)) }
    }

    @Test(arguments: ["{}", "[0, -1.5e+3, true, false, null, \"\", \"\\u00e9\\\"\", {\"\": {}}]\r\n"])
    func takesWhatIsJSON(text: String) throws {
        _ = try SourceMap(json: Array(text.utf8))
    }
}
