import Foundation
import TestSupport
import Testing

/// Times are local for people, in any zone.
struct LocalTimeTests {
    private static let posixRule = "CET-1CEST,M3.5.0,M10.5.0/3"

    private func run(_ scene: MirrorScene, _ zone: String, _ arguments: String...) throws -> CommandRun {
        try scene.here(arguments, environment: ["TZ": zone])
    }

    @Test(arguments: [
        ("Europe/Berlin", "2020-09-13 14:26:40"), (posixRule, "2020-09-13 14:26:40"),
        ("America/New_York", "2020-09-13 08:26:40"), ("Asia/Kolkata", "2020-09-13 17:56:40"),
        ("no such zone", "2020-09-13 12:26:40"),
    ])
    func peopleSeeTheLocalSecondAndScriptsUTC(zone: String, time: String) throws {
        let scene = try MirrorScene(["a": .file("a", modified: TreeTime(1_600_000_000, 123_456_789))])
        #expect(try run(scene, zone, "manifest", "list", "-l", "source").output.contains(" 1 \(time) a\n"))
        #expect(try run(scene, zone, "manifest", "show", "source").output.contains("  \(time)  a\n"))
        let json = try run(scene, zone, "manifest", "list", "--json", "source").output
        #expect(json.contains("2020-09-13T12:26:40.123456789Z"))
        try run(scene, zone, "apply", "source", "target", "--log-file", "log").expect(0)
        let hour = try #require(
            scene.text("log").firstMatch(of: #/^[-0-9]{10}T[0-9:]{8}([-+][0-9:]{5}) apply/#))
        let offsets = ["Asia/Kolkata": ["+05:30"], "America/New_York": ["-05:00", "-04:00"]]
        #expect((offsets[zone] ?? ["+00:00", "+01:00", "+02:00"]).contains(String(hour.1)))
    }

    /// Files with these times in UTC, in the order of their names.
    private static let times = [
        "2018-11-04T02:59:59Z", "2018-11-04T03:00:00Z", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z",
        "2026-03-29T01:30:00Z", "2026-10-24T22:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z",
        "2026-10-25T22:59:59Z", "2026-10-25T23:00:00Z",
    ]

    /// The first file that is newer.
    private static let local: [(zone: String, time: String, first: Int)] = [
        // The clock is set from 2 to 3, then from 3 back to 2.
        ("Europe/Berlin", "2026-03-29 01:59:59", 2), ("Europe/Berlin", "2026-03-29 02:00", 3),
        ("Europe/Berlin", "2026-03-29 02:30", 4), ("Europe/Berlin", "2026-03-29T03:00", 3),
        (posixRule, "2026-03-29 02:30", 4), ("Europe/Berlin", "2026-10-25 02:30", 6),
        ("Europe/Berlin", "2026-10-25 03:00", 8), (posixRule, "2026-10-25 02:30", 6),
        ("Europe/Berlin", "2026-10-25T02:30+01:00", 7), ("Europe/Berlin", "2026-10-25", 5),
        ("Europe/Berlin", "2026-10-26", 9), ("UTC", "2026-10-26", 10),
        // There the clock is set from midnight to 1.
        ("America/Sao_Paulo", "2018-11-04", 1), ("America/Sao_Paulo", "2018-11-04 01:00", 1),
    ]

    @Test(arguments: local)
    func aTimeWithoutAZoneIsLocal(zone: String, time: String, first: Int) throws {
        let scene = try MirrorScene([:])
        for (index, time) in Self.times.enumerated() {
            let seconds = try #require(ISO8601DateFormatter().date(from: time)).timeIntervalSince1970
            let name = String(UnicodeScalar(UInt8(97 + index)))
            try scene.build(.file("", modified: TreeTime(Int(seconds), 0)), at: "source/\(name)")
        }
        let all = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
        #expect(
            try run(scene, zone, "manifest", "list", "source", "--newer", time).lines == Array(all[first...]))
        #expect(
            try run(scene, zone, "manifest", "list", "source", "--older", time).lines == Array(all[..<first]))
    }

    @Test func everyOptionTakesTheSame() throws {
        let scene = try MirrorScene(["a": "one"]).mirrored()
        for time in [
            "7d", "2h", "1h30m", "1y6mo", "yesterday", "2026-01-02", "2026-01-02 07:17",
            "2026-01-02T07:17:00Z",
        ] {
            let list = try scene.run("manifest", "list", "source", "--newer", time)
            #expect(list.lines == ["a"], "\(time): \(list.errors)")
            #expect(try scene.run("snapshot", "find", "target", "a", "--newer", time).code == 0)
            #expect(try scene.run("status", "target", "--max-age", time).code == 0)
            // Nothing is that old.
            try scene.run("snapshot", "show", "target", time).expect(
                66, says: "all snapshots are newer than \(time)")
        }
        #expect(try scene.run("snapshot", "show", "target", "today").code == 0)
        for arguments in [
            ["manifest", "list", "source", "--older"], ["snapshot", "find", "target", "a", "--newer"],
            ["status", "target", "--max-age"], ["snapshot", "show", "target"],
        ] {
            let run = try scene.run(arguments + ["last week"])
            #expect(run.code == (arguments.last == "target" ? 66 : 64))
            for form in ["7d", "yesterday", "2026-11-22", "'2026-11-22 07:17'", "2026-11-22T07:17:00Z"] {
                #expect(run.errors.contains(form), "\(arguments): \(run.errors)")
            }
        }
    }
}
