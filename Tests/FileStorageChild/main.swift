import FileStorage
import Foundation

/// Parts of tests that need another process: another user, a limit, a second writer, an environment.
///
///     FileStorageChild ACTION DIRECTORY
///
/// The exit code is 0 if the action did what it should.
struct SensorLog: FileReadWritable {}

struct Window: Codable, FileReadWritable {
    var width = 800
}

struct Unexpected: Error {
    let found: String
}

func expect(_ condition: Bool, _ found: @autoclosure () throws -> String) throws {
    if !condition { throw Unexpected(found: try found()) }
}

func becomeNobody() throws {
    try expect(setgid(65534) == 0 && setuid(65534) == 0, "setuid: \(errno)")
}

/// As on a full disk, files have at most 10 bytes.
func limitFiles() throws {
    var limit = rlimit(rlim_cur: 10, rlim_max: 10)
    try expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, "setrlimit: \(errno)")
}

func expectError(_ number: Int32, _ file: LocalFile, _ call: () throws(SyncError) -> Void) throws {
    do throws(SyncError) {
        try call()
    } catch {
        try expect(error.errno == number && error.description.contains(file.path), "\(error)")
        return
    }
    throw Unexpected(found: "no error")
}

let action = CommandLine.arguments[1]
let directory = LocalFile(CommandLine.arguments[2])

switch action {
case "read-as-nobody":
    try becomeNobody()
    try expect(try (directory + "f").text() == "x", "other text")
case "write-as-nobody":
    try becomeNobody()
    try (directory + "f").replace(withText: "x")
    try (directory + "log").append("x")
case "read-is-denied":
    try becomeNobody()
    try expectError(EACCES, directory + "f") { () throws(SyncError) in _ = try (directory + "f").text() }
case "write-is-denied":
    try becomeNobody()
    for file in [directory + "f", directory + "new"] {
        try expectError(EACCES, directory) { () throws(SyncError) in try file.replace(withText: "y") }
        try expectError(EACCES, directory) { () throws(SyncError) in try file.append("y") }
    }
case "write-to-full-disk":
    try limitFiles()
    let storage = try DiskStorage(in: directory)
    for file in [directory + "log", directory + "new"] {
        try expectError(EFBIG, file) { () throws(SyncError) in try file.append("a line that does not fit\n") }
    }
    try expectError(EFBIG, directory) { () throws(SyncError) in
        try (directory + "f").replace(withText: "what does not fit")
    }
    do {
        try storage.store(Data("what does not fit".utf8), for: "f")
        throw Unexpected(found: "no error")
    } catch StorageError.cannotWrite("f", let cause as SyncError) {
        try expect(cause.errno == EFBIG, "\(cause)")
    }
case "count":
    // Each child takes a lock, as programs that share a file do.
    let lock = open((directory + "lock").path, O_CREAT | O_RDWR, 0o600)
    let values = CodableStorage(try DiskStorage(in: directory))
    for _ in 0..<50 {
        flock(lock, LOCK_EX)
        try values.store((try values.valueIfPresent(Int.self, for: "n") ?? 0) + 1, for: "n")
        flock(lock, LOCK_UN)
    }
case "no-member":
    try SensorLog().write("12.5 0.1\n")
    try SensorLog().write("13.0 0.2\n")
    let text = try SensorLog().read()
    try expect(text == "12.5 0.1\n13.0 0.2\n", text)
    try Window(width: 5).write()
    try Window(width: 6).write()
    try expect(try Window.read().width == 6, "other width")
    let file = try SensorLog().file
    try expect(file == directory + "FileStorageChild" + "SensorLog.txt", "\(file)")
case "replace-secret":
    for number in 0..<300 {
        try (directory + "secret").replace(with: Data("\(number)".utf8), permissions: 0o600)
    }
case "store-for-ever":
    let storage = try DiskStorage(in: directory, isDurable: false)
    while true {
        for letter in ["a", "b"] {
            try storage.store(Data(String(repeating: letter, count: 1 << 22).utf8), for: "k")
        }
    }
case "no-home":
    // Neither the environment nor the password database has a home directory.
    try expect(unsetenv("HOME") == 0 && setuid(54321) == 0, "setuid: \(errno)")
    do {
        throw Unexpected(found: "\(try LocalFile.homeDirectory)")
    } catch let error as SyncError {
        try expect("\(error)".hasPrefix("HOME: "), "\(error)")
    }
case "places":
    try expect(try LocalFile.homeDirectory == directory, "\(try LocalFile.homeDirectory)")
    try expect(try LocalFile.configurationDirectory == directory + ".config", "other configuration")
    try expect(try LocalFile.dataDirectory == directory + ".local/share", "other data")
    try expect(try LocalFile.cacheDirectory == directory + "cache", "other cache")
    try expect(LocalFile.temporaryDirectory == "/tmp", "other temporary directory")
default:
    throw Unexpected(found: action)
}
