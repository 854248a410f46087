import FileSystem

/// The places of a user's files. An environment variable that is not an absolute path is ignored.
extension LocalFile {
    /// `HOME`, or the home of the password database.
    public static var homeDirectory: LocalFile {
        get throws(SyncError) {
            if let home = named("HOME") ?? Account.home.map({ LocalFile(bytes: $0) }), home.isAbsolute {
                return home
            }
            throw SyncError(
                .failed, path: Array("HOME".utf8),
                "the environment names no home directory, nor does the password database")
        }
    }

    /// The working directory.
    public static var currentDirectory: LocalFile {
        get throws(SyncError) {
            LocalFile(bytes: try reporting(HostProcess.workingDirectory()))
        }
    }

    /// `TMPDIR`, or `/tmp`.
    public static var temporaryDirectory: LocalFile { named("TMPDIR") ?? LocalFile("/tmp") }

    /// `XDG_CONFIG_HOME`, or `.config` in the home directory.
    public static var configurationDirectory: LocalFile {
        get throws(SyncError) { try place("XDG_CONFIG_HOME", ".config") }
    }

    /// `XDG_DATA_HOME`, or `.local/share` in the home directory.
    public static var dataDirectory: LocalFile {
        get throws(SyncError) { try place("XDG_DATA_HOME", ".local/share") }
    }

    /// `XDG_CACHE_HOME`, or `.cache` in the home directory.
    public static var cacheDirectory: LocalFile {
        get throws(SyncError) { try place("XDG_CACHE_HOME", ".cache") }
    }

    private static func place(_ variable: String, _ standard: String) throws(SyncError) -> LocalFile {
        if let named = named(variable) { return named }
        return try homeDirectory + standard
    }

    private static func named(_ variable: String) -> LocalFile? {
        HostProcess.environment(variable).map { LocalFile($0) }.flatMap { $0.isAbsolute ? $0 : nil }
    }
}
