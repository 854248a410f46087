import FileStorage
import FileSystem

extension FarProgram {
    /// Runs in the shell of the other machine. It prints the platform and the installed version. Then it
    /// reads a checksum and the program. The program gets its name only when it is complete and durable.
    private static let script = """
        sh -c 'd=$HOME/.local/bin; f=$d/fsync-lite; uname -sm; "$f" --version 2>/dev/null || echo none; \
        read -r sum || exit 0; mkdir -p "$d" && t=$(mktemp "$d/.fsync-lite-XXXXXX") || exit 1; \
        trap "rm -f \\"$t\\"" 0 1 2 15; cat > "$t" || exit 1; found=$(sha256sum < "$t") || exit 1; \
        [ "${found%% *}" = "$sum" ] || { echo "what came is not what was sent" >&2; exit 1; }; \
        chmod 755 "$t" && "$t" --version > /dev/null && sync "$t" && mv -f "$t" "$f" && sync "$d"'
        """

    private func error(_ message: String) -> SyncError {
        SyncError(.unreachable, path: endpoint.bytes, "not installed there: \(message)")
    }

    /// Installs the program that runs here.
    func install(_ version: String) throws {
        let program = try OwnProgram()
        guard try !program.needsLibraries() else {
            throw error(
                "this fsync-lite needs libraries of this machine; one that needs none: scripts/build --static"
            )
        }
        var hash = SHA256()
        try program.forEachPiece { hash.update($0) }
        let sum = Digest(hash.finish()).description.dropFirst("sha256:".count)
        HostProcess.ignoreBrokenPipes()
        let process = try FarProcess(to: endpoint, access, running: FarProgram.script)
        defer { process.close() }
        do {
            try check(try lines(from: process), version)
            try process.write(Array("\(sum)\n".utf8))
            try program.forEachPiece { try process.write($0) }
        } catch let error as Errno {
            throw self.error(process.complaint ?? "\(error)")
        }
        guard process.end() == 0 else { throw error(process.complaint ?? "it ended early") }
    }

    /// Reads the platform and the version of the other machine.
    private func lines(from process: FarProcess) throws -> [String] {
        var text: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
        defer { buffer.deallocate() }
        let began = ContinuousClock.now
        while text.count(where: { $0 == UInt8(ascii: "\n") }) < 2 {
            guard try process.waitForInput(milliseconds: Int32(WireFormat.patience * 1000)),
                case let count = try process.read(into: buffer), count > 0,
                text.count < WireFormat.longestText,
                ContinuousClock.now - began < .seconds(2 * WireFormat.patience)
            else { throw error(process.complaint ?? "its shell does not tell what it is") }
            text.append(contentsOf: buffer[..<count])
        }
        let lines = text.split(separator: UInt8(ascii: "\n")).map { escapedText($0) }
        guard lines.count >= 2 else { throw error("its shell does not tell what it is") }
        return lines
    }

    private func check(_ found: [String], _ version: String) throws {
        guard found[0] == HostProcess.platform else {
            throw error("it is \(found[0]), and this fsync-lite is for \(HostProcess.platform)")
        }
        func numbers(_ text: String) -> [Int] { text.split(separator: ".").map { Int($0) ?? 0 } }
        let there = found[1].split(separator: " ").last.map(String.init) ?? ""
        guard !numbers(version).lexicographicallyPrecedes(numbers(there)) else {
            throw error(
                "~/.local/bin/fsync-lite there is newer (\(there)) than this one (\(version)): install that one here"
            )
        }
    }
}
