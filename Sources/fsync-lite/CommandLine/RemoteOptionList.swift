import FsyncLite

extension OptionDescription {
    /// Whether its value names something on this machine, so it must not be sent to another one.
    var isOfThisMachine: Bool { ["FILE", "DIR", "COMMAND", "JOB"].contains(placeholder) }
}

extension GivenOptions {
    /// Options that another machine sent, checked like a command line.
    ///
    /// - Parameter known: the options that may be given.
    init(_ sent: [RemoteCommand.Option], of known: [OptionDescription]) throws(UsageError) {
        self.init()
        for option in sent {
            guard let description = known.first(where: { $0.name == option.name }),
                description.isRepeatable || !has(description), let values = option.values,
                description.isRepeatable ? values.count == 1 : description.takes(values)
            else {
                throw UsageError(
                    "the other machine's fsync-lite does not accept the option \(quoted(Array(option.name.utf8)))",
                    hint: "install the same version on both machines")
            }
            if let value = values.first { try description.valueKind?.check(value, for: description.name) }
            append(description, values.first)
        }
    }

    /// The options for another machine, unchanged.
    var sent: [RemoteCommand.Option] {
        list.map { RemoteCommand.Option($0.name, $0.value.map { [$0] } ?? []) }
    }
}
