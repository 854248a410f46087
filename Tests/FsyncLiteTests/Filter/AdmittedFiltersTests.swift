import FileSystem
import Testing

@testable import FsyncLite

/// Another machine may read a source with filters that exclude at least as much as the source's own.
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
        var tighter = Filters()
        tighter.sizes.maximum = 50
        #expect(own.admit(tighter))
        tighter.sizes.maximum = 101
        #expect(!own.admit(tighter))
        own = Filters()
        _ = own.setIgnoreFile(named: Array(".gitignore".utf8))
        #expect(!own.admit(Filters()))
        #expect(own.admit(own))
        var other = Filters()
        _ = other.setIgnoreFile(named: Array(".ignore".utf8))
        #expect(!own.admit(other))
        #expect(Filters().admit(other))
    }

    @Test func aMinimumMayOnlyRise() {
        func minimum(_ bytes: ByteCount?) -> Filters { with(Filters()) { $0.sizes.minimum = bytes } }
        #expect(minimum(100).admit(minimum(100)) && minimum(100).admit(minimum(101)))
        #expect(!minimum(100).admit(minimum(99)) && !minimum(100).admit(minimum(nil)))
        #expect(minimum(nil).admit(minimum(1)))
    }

    @Test func marksOfDirectoriesMayOnlyBeAdded() {
        let caches = with(Filters()) { $0.excludesCaches = true }
        let mounts = with(Filters()) { $0.excludesOtherFileSystems = true }
        for filters in [caches, mounts] {
            #expect(filters.admit(filters) && Filters().admit(filters) && !filters.admit(Filters()))
        }
        #expect(!caches.admit(mounts) && !mounts.admit(caches))
    }
}
