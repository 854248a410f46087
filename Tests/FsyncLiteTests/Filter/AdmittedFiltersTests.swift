import Testing

@testable import FsyncLite

/// What another machine may ask of a source: filters that leave out at least what its own do.
struct AdmittedFiltersTests {
    private func filters(_ patterns: [String]) -> Filters {
        var filters = Filters()
        for pattern in patterns { filters.exclude(Array(pattern.utf8)) }
        return filters
    }

    @Test(arguments: [
        (["a"], ["a"]), ([String](), ["a"]), (["a", "b"], ["a", "c", "b"]), (["a"], ["c", "a"]),
        (["a"], ["a", "c", "d"]),
        (["a", "!b"], ["a", "x", "!b"]), (["a", "a"], ["a", "a", "a"]),
    ])
    func moreExclusionsAreAdmitted(own: [String], other: [String]) {
        #expect(filters(own).admit(filters(other)))
    }

    @Test(arguments: [
        (["a"], [String]()), (["a", "b"], ["b", "a"]), (["a"], ["a", "!a"]), (["a", "b"], ["a", "!x", "b"]),
        (["a"], ["b"]),
        (["a", "b"], ["a"]), ([], ["!a"]),
    ])
    func whatTakesInMoreIsNot(own: [String], other: [String]) {
        #expect(!filters(own).admit(filters(other)))
    }

    @Test func limitsMayOnlyBeTighter() {
        var own = Filters()
        own.sizes.maximum = 100
        #expect(!own.admit(Filters()))
        var other = Filters()
        other.sizes.maximum = 50
        #expect(own.admit(other))
        other.sizes.maximum = 101
        #expect(!own.admit(other))
        own = Filters()
        own.excludesCaches = true
        #expect(!own.admit(Filters()))
        own = Filters()
        _ = own.setIgnoreFile(named: Array(".gitignore".utf8))
        #expect(!own.admit(Filters()))
        #expect(own.admit(own))
    }
}
