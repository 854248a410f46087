import FileStorage
import FsyncLite

extension GivenOptions {
    /// Appends to the log file, if there is one, a line for each event of a run. No run fails because of its log.
    ///
    /// - Parameter client: the log may be there.
    func log(
        _ events: [String], of command: any Command.Type, _ job: Job?, at client: Client? = nil
    ) {
        guard let path = value(.logFile) else { return }
        let head = "\(Timestamp.now.localISO8601) \(job?.labelled(command.name) ?? command.name)"
        do {
            for event in events {
                let log = RunLog(LocalFile(bytes: path), line: "\(head) \(event)")
                if let client, path == RunLog.ofClient {
                    client.write(log.text.utf8, to: .log)
                } else {
                    try log.append()
                }
            }
        } catch {
            Console.complain(job?.labelled("\(error)") ?? "\(error)")
        }
    }
}
