import FileSystem

extension Directory {
    /// Moves into this directory, a transaction's, what others put in the way.
    ///
    /// - Returns: where it is kept.
    func takeConflict(_ name: FileName, from other: Directory) throws -> [UInt8] {
        let holder = TargetState.Name.conflicts
        if try status(of: holder) == nil { try makeDirectory(holder) }
        let conflicts = try directory(holder)
        // A recovery that was cut short may have put some there already.
        var number = 1
        while try conflicts.status(of: FileName(number: number)) != nil { number += 1 }
        try other.rename(name, to: conflicts, FileName(number: number), .noReplace)
        return conflicts.path(of: FileName(number: number))
    }
}
