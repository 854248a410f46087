/// Rows of cells, in columns.
struct TextTable {
    /// The first row has the titles. All rows have the same number of cells.
    let rows: [[String]]

    func write(to console: inout Console) throws {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            let cells = zip(row, widths).map { $0.padded(to: $1) }
            // The last column needs no padding.
            try console.line((cells.dropLast() + row.suffix(1)).joined(separator: "  "))
        }
    }
}
