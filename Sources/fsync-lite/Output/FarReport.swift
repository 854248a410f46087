import FileStorage
import FileSystem
import FoundationEssentials
import FsyncLite

/// The fields that are read from another machine's report.
struct FarReport: Decodable {
    struct Refusal: Decodable {
        let `case`: String
        let reason: String
    }

    struct Problem: Decodable {
        /// nil if the path is not UTF-8.
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

    /// nil if the document is empty or of another kind.
    init?(_ document: [UInt8]) {
        guard let report = try? JSONDocument.decode(FarReport.self, from: Data(document), keys: .snakeCase)
        else {
            return nil
        }
        self = report
    }
}
