import FileStorage

/// A page of a DocC catalog. A test compiles and runs its examples.
package struct Article {
    /// Lines of its examples that are not in the test's file. Leading blanks are ignored.
    package let linesNotTested: [String]
    package let lineCount: Int

    /// - Parameters:
    ///   - path: relative to the package.
    ///   - test: the file of the test, in a folder of `Tests`.
    package init(_ path: String, testedIn test: String) throws {
        let test = LocalFile(test)
        let code = Set(try Article.lines(test))
        let article = LocalFile(bytes: test.parent.parent.parent.bytes + Array("/\(path)".utf8))
        var isCode = false
        var examples: [Substring] = []
        for line in try Article.lines(article) {
            if line.hasPrefix("```") {
                isCode = line == "```swift"
            } else if isCode {
                examples.append(line)
            }
        }
        lineCount = examples.count
        linesNotTested = examples.filter { !code.contains($0) }.map(String.init)
    }

    private static func lines(_ file: LocalFile) throws -> [Substring] {
        try file.text().split(separator: "\n").map { $0.drop { $0 == " " } }
    }
}
