import FileSystem
import FsyncLite

/// A restore whose target and destination are on two machines.
struct FarRestoration {
    var restoration: Restoration
    /// The paths as typed.
    let words: [[UInt8]]
    let invocation: Invocation

    /// - Returns: nil if both are on this machine.
    func run(_ console: inout Console) throws -> ExitCode? {
        if let client = invocation.client {
            guard client.command.source != nil else { return nil }
            TerminationSignal.watch()
            return try copy(FarSnapshot(request, of: client, monitor), &console)
        }
        if let target = try SyncRun.endpoint(restoration.target) { return try pull(from: target, &console) }
        guard let destination = try destination() else { return nil }
        var restoration = restoration
        restoration.paths = try SnapshotRestoreCommand.paths(words, in: restoration)
        return try RemoteInvocation(invocation, restoring: restoration, at: destination).run(&console)
    }

    private var monitor: RunMonitor { RunMonitor(isQuiet: true) }

    private var request: FarSnapshot.Request {
        FarSnapshot.Request(
            restoration.snapshot, paths: words, locks: !invocation.options.has(.dryRun))
    }

    /// The destination on another machine, for a target of this machine; nil if the destination is here.
    private func destination() throws -> Endpoint? {
        if let path = restoration.destination { return try SyncRun.endpoint(path) }
        guard restoration.isToSource else { return nil }
        return try Endpoint(argument: Target(path: restoration.target).source(isHere: false).path)
    }

    // MARK: From another machine

    private func pull(from target: Endpoint, _ console: inout Console) throws -> ExitCode? {
        if let path = restoration.destination, try SyncRun.endpoint(path) != nil {
            throw UsageError(
                "\(quoted(restoration.target)) and \(quoted(path)) are on two other machines",
                hint: "run it on one of these: ssh \(target.destination) fsync-lite snapshot restore ...")
        }
        HostProcess.ignoreBrokenPipes()
        TerminationSignal.watch()
        let snapshot = try FarSnapshot(request, of: target, RemoteAccess(invocation.options), monitor)
        guard restoration.isToSource else { return try copy(snapshot, &console) }
        guard let source = snapshot.sourceHere else {
            snapshot.release()
            return try RemoteInvocation(invocation, isDecided: true)?.run(&console)
        }
        var run = self
        run.restoration.destination = source
        return try run.copy(snapshot, &console)
    }

    private func copy(_ snapshot: FarSnapshot, _ console: inout Console) throws -> ExitCode {
        var restoration = restoration
        restoration.paths = snapshot.paths
        defer { snapshot.release() }
        return try SnapshotRestoreCommand.run(
            SyncRun(invocation, restoration, from: snapshot), invocation, &console)
    }
}
