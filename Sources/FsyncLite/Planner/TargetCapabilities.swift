import FileSystem

/// The effects of a target's file system on a plan.
extension ComparisonPolicy {
    /// - Parameter capabilities: nil for a file system that is complete.
    mutating func adapt(to capabilities: FileSystemCapabilities?) {
        guard let capabilities else { return }
        (timeStep, usesTargetChangeTime) = (capabilities.timeStep, capabilities.keepsChangeTimes)
        keepsTargetInodes = capabilities.keepsInodes
        if capabilities.names.foldsCase { merging.folding.insert(.ofCase) }
        if capabilities.names.foldsForms { merging.folding.insert(.ofForms) }
    }
}

extension FileSystemCapabilities {
    /// The promise for a target, in one line.
    public var promise: String {
        guard !isComplete else { return "all or nothing, also after a power cut (\(name))" }
        return
            "after a kill, the old tree or the new one; after a power cut, run recover, then manifest verify. Only one machine may write at a time (\(name), weak commit)"
    }

    /// The promise, and the kinds of values that this file system cannot store: for people, a line each.
    func notes(leftOut: [FileType: Int]) -> [String] {
        let missing = Features.all.subtracting(stored).words.map { word in
            let count = leftOut.reduce(0) { $1.key.word == word ? $0 + $1.value : $0 }
            return count > 0 ? "\(word) (\(count) left out)" : word
        }
        var parts = missing.isEmpty ? [] : ["has no " + missing.joined(separator: ", no ")]
        if timeStep > 1 { parts.append("rounds times to \(FileSystemCapabilities.text(ofStep: timeStep))") }
        if directorySyncFailure != nil { parts.append("cannot sync directories") }
        return [promise] + (parts.isEmpty ? [] : ["\(name) \(parts.joined(separator: ", and "))"])
    }

    private static func text(ofStep step: Int64) -> String {
        let units: [(Int64, String)] = [
            (1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns"),
        ]
        let unit = units.first { step % $0.0 == 0 } ?? (1, "ns")
        return "\(step / unit.0) \(unit.1)"
    }
}

extension FileType {
    /// The word that `FileSystemCapabilities.Features` has for the type.
    fileprivate var word: String {
        switch self {
        case .symlink: "symlinks"
        case .fifo: "FIFOs"
        case .characterDevice, .blockDevice: "devices"
        case .file, .directory, .socket: ""
        }
    }
}
