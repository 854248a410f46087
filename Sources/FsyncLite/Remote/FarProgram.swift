/// The program on another machine: the one that the shell there finds, or else the one of `--install`.
struct FarProgram {
    let endpoint: Endpoint
    let access: RemoteAccess

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - isReadOnly: it will write nothing there.
    ///   - greet: waits for its greeting.
    func connect<Link>(isReadOnly: Bool, _ greet: (FarProcess) throws -> Link) throws -> Link {
        func start(_ access: RemoteAccess) throws -> (link: Result<Link, any Error>, code: Int32?) {
            let process = try FarProcess(
                to: endpoint, access, running: access.program(isReadOnly: isReadOnly))
            let link = Result { try greet(process) }
            if case .failure = link { process.close() }
            return (link, process.codeWithoutAnswer)
        }
        let (found, code) = try start(access)
        // If the user named a command, no other one is tried.
        guard code != nil, access.command == RemoteAccess.usualCommand else { return try found.get() }
        var installed = access
        installed.command = RemoteAccess.installedCommand
        let (second, secondCode) = try start(installed)
        if case .success(let link) = second { return link }
        guard let version = access.installs else {
            // It exists, but cannot be run.
            return try (secondCode.map { $0 != 126 } ?? false ? found : second).get()
        }
        try install(version)
        return try start(installed).link.get()
    }

    /// Starts the program to read from that machine.
    func connectToRead(_ monitor: any Monitor) throws -> (link: RemoteLink, process: FarProcess) {
        try connect(isReadOnly: true) { process in
            let link = try RemoteLink(endpoint, process, greeted: nil)
            try link.greet(monitor)
            return (link, process)
        }
    }
}
