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
        func start(_ access: RemoteAccess) throws -> (link: Result<Link, any Error>, code: Int32?) {
            let process = try FarProcess(
                to: endpoint, access, running: access.program(isReadOnly: isReadOnly))
            let link = Result { try greet(process) }
            if case .failure = link { process.close() }
            return (link, process.codeWithoutAnswer)
        }
        let (found, code) = try start(access)
        // A command that was named is not looked for elsewhere.
        guard code != nil, access.command == RemoteAccess.usualCommand else { return try found.get() }
        var installed = access
        installed.command = RemoteAccess.installedCommand
        let (second, secondCode) = try start(installed)
        if case .success(let link) = second { return link }
        guard let version = access.installs else {
            // It is there, and cannot be run.
            return try (secondCode.map { $0 != 126 } ?? false ? found : second).get()
        }
        try Installation(endpoint: endpoint, access: access, version: version).run()
        return try start(installed).link.get()
    }

    /// Starts it to read what it has there.
    func connectToRead(_ monitor: any Monitor) throws -> (link: RemoteLink, process: FarProcess) {
        try connect(isReadOnly: true) { process in
            let link = try RemoteLink(endpoint, process, greeted: nil)
            try link.greet(monitor)
            return (link, process)
        }
    }
}
