// swift-tools-version: 6.2
import PackageDescription

/// `statx`, `renameat2`, `copy_file_range`, `syncfs`, `O_PATH` and others are hidden without it.
let gnuSource: [CSetting] = [.define("_GNU_SOURCE")]

let package = Package(
    name: "fsync-lite",
    products: [
        .library(name: "FsyncLite", targets: ["FsyncLite"]),
        .executable(name: "fsync-lite", targets: ["fsync-lite"]),
    ],
    targets: [
        .systemLibrary(name: "CLinux"),
        .target(name: "FileSystem", dependencies: ["CLinux"], cSettings: gnuSource),
        .target(name: "FsyncLite", dependencies: ["FileSystem"]),
        .executableTarget(name: "fsync-lite", dependencies: ["FsyncLite"]),
        .target(name: "TestSupport", dependencies: ["FsyncLite", "FileSystem"], path: "Tests/TestSupport"),
        .executableTarget(
            name: "fuzz", dependencies: ["FsyncLite", "FileSystem", "TestSupport"], path: "Tests/Fuzz"),
        .target(name: "TestNeeds", dependencies: ["TestSupport"], path: "Tests/TestNeeds"),
        .testTarget(name: "FileSystemTests", dependencies: ["FileSystem", "TestSupport", "TestNeeds"]),
        .testTarget(name: "FsyncLiteTests", dependencies: ["FsyncLite", "TestSupport", "TestNeeds"]),
        .testTarget(
            name: "CommandLineTests", dependencies: ["fsync-lite", "FsyncLite", "TestSupport", "TestNeeds"]),
    ],
    swiftLanguageModes: [.v6]
)
