import FileStorage
import FileSystem
import FoundationEssentials
import FsyncLite

/// What is read of another machine's report.
struct FarReport: Decodable {
    struct Refusal: Decodable {
        let `case`: String
        let reason: String
    }

    struct Problem: Decodable {
        /// nil for one that is not UTF-8.
        let path: String?
        let code: String
        let message: String
    }

    struct Summary: Decodable {
        let create: Int, update: Int, attributes: Int, move: Int, delete: Int
        let bytesToCopy: ByteCount
    }

    let outcome: String
    let refusals: [Refusal]?
    let problems: [Problem]?
    let `case`: String?
    let error: String?
    let summary: Summary?

    /// nil for no document, and for one of another kind.
    init?(_ document: [UInt8]) {
        guard let report = try? JSONDocument.decode(FarReport.self, from: Data(document), keys: .snakeCase)
        else {
            return nil
        }
        self = report
    }
}
