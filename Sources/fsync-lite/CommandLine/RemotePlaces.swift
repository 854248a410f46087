import FsyncLite

/// The paths of a command, beside its target, that are on the target's machine.
struct RemotePlaces: Sendable {
    var arguments: [ArgumentDescription] = []
    var options: [OptionDescription] = []
    /// Where they are on several machines, the command runs here and reads what the others have.
    var areReadFromHere = false

    /// A target and another place are on two machines.
    func fault(_ target: [UInt8], _ place: [UInt8]) -> UsageError {
        let name = options.first?.name ?? arguments.first?.name ?? ""
        let isThere = (try? Endpoint(target)) != nil
        return UsageError(
            "\(quoted(target)) and \(name) \(quoted(place)) are on two machines",
            hint: isThere
                ? "the copy is made where the target is: give a directory there, and bring it here after that with "
                    + "fsync-lite apply HOST:DIR DIR"
                : "the copy is made on this machine: give a directory here, and send it after that with fsync-lite apply "
                    + "DIR HOST:DIR")
    }
}
