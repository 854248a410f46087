import FileStorage
import FsyncLite
import TestSupport
import Testing

struct SettingsTests {
    let temporary = try! TemporaryDirectory()
    var root: LocalFile { temporary.file }

    @Test func settingsRoundTrip() throws {
        try SettingsFile.create(Settings(keepLast: 3), at: root + "settings.json")
        #expect(try (root + "settings.json").text() == "{\n  \"keep_last\" : 3\n}\n")
        #expect(try read()?.rules.keepLast == 3)
        try (root + "settings.json").replace(withText: "{}")
        #expect(try read() == Settings())
    }

    private func read() throws -> Settings? {
        try SettingsFile<Settings>.readIfPresent(in: root)?.content
    }

    @Test(arguments: [
        (#"{"keep_last": "3"}"#, "keep_last"), (#"{"keep_last": 1.5}"#, "keep_last"),
        (#"{"keep_last": -1}"#, "keep_last"),
        (#"{"keep_frist": 3}"#, "keep_frist"), (#"{"keepLast": 3}"#, "keepLast"),
        (#"{"keep_last": 3, "a\nb": 1}"#, "a\\nb"),
        ("[]", "line 1, column 1: An object"), ("", "JSON"), ("{\"keep_last\": 3", "JSON"), ("null", "null"),
    ])
    func settingsErrorNamesFileAndKey(_ text: String, _ mentioned: String) throws {
        let file = root + "settings.json"
        try file.replace(withText: text)
        #expect { try read() } throws: { error in
            guard let error = error as? SyncError else { return false }
            return error.code == .invalidDocument && error.path == file.bytes
                && error.message.contains(mentioned)
                && !error.description.contains("\n")
        }
    }
}
