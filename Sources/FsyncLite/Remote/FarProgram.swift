import FileStorage
import FileSystem

/// The program on another machine: where its shell finds it, or else where `--install` puts it.
struct FarProgram {
    let endpoint: Endpoint
    let access: RemoteAccess

    /// Starts it.
    ///
    /// - Parameters:
    ///   - isReadOnly: nothing is to be written there.
    ///   - greet: waits until it has said who it is.
    func connect<Link>(isReadOnly: Bool, _ greet: (FarProcess) throws -> Link) throws -> Link {
        func start(_ access: RemoteAccess) throws -> (link: Result<Link, any Error>, isMissing: Bool) {
            let process = try FarProcess(to: endpoint, access, isReadOnly: isReadOnly)
            let link = Result { try greet(process) }
            if case .failure = link { process.close() }
            return (link, process.isMissing)
        }
        let (found, isMissing) = try start(access)
        // A command that was named is not looked for elsewhere.
        guard isMissing, access.command == RemoteAccess.usualCommand else { return try found.get() }
        var installed = access
        installed.command = RemoteAccess.installedCommand
        let (second, isMissingThere) = try start(installed)
        if case .success(let link) = second { return link }
        guard let version = access.installs else { return try (isMissingThere ? found : second).get() }
        try Installation(endpoint, access, version).run()
        return try start(installed).link.get()
    }
}
