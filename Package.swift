// swift-tools-version: 6.2
import PackageDescription

/// `statx`, `renameat2`, `copy_file_range`, `syncfs`, `O_PATH` and others are hidden without it.
let gnuSource: [CSetting] = [.define("_GNU_SOURCE")]

let package = Package(
    name: "fsync-lite",
    products: [
        .library(name: "FsyncLite", targets: ["FsyncLite"]),
        .library(name: "FileStorage", targets: ["FileStorage"]),
        .executable(name: "fsync-lite", targets: ["fsync-lite"]),
    ],
    targets: [
        .systemLibrary(name: "CLinux"),
        .target(name: "FileSystem", dependencies: ["CLinux"], cSettings: gnuSource),
        .target(name: "FileStorage", dependencies: ["FileSystem"]),
        .target(name: "FsyncLite", dependencies: ["FileStorage", "FileSystem"]),
        .executableTarget(name: "fsync-lite", dependencies: ["FsyncLite", "FileStorage"]),
        .target(
            name: "TestSupport", dependencies: ["FsyncLite", "FileStorage", "FileSystem"],
            path: "Tests/TestSupport", cSettings: gnuSource),
        .executableTarget(
            name: "fuzz", dependencies: ["FsyncLite", "FileStorage", "FileSystem", "TestSupport"],
            path: "Tests/Fuzz"),
        .target(name: "TestNeeds", dependencies: ["TestSupport"], path: "Tests/TestNeeds"),
        .testTarget(name: "FileSystemTests", dependencies: ["FileSystem", "TestSupport", "TestNeeds"]),
        .testTarget(
            name: "FileStorageTests",
            dependencies: ["FileStorage", "FileStorageChild", "TestSupport", "TestNeeds"]),
        .executableTarget(
            name: "FileStorageChild", dependencies: ["FileStorage"], path: "Tests/FileStorageChild"),
        .testTarget(name: "FsyncLiteTests", dependencies: ["FsyncLite", "TestSupport", "TestNeeds"]),
        .testTarget(
            name: "CommandLineTests", dependencies: ["fsync-lite", "FsyncLite", "TestSupport", "TestNeeds"]),
    ],
    swiftLanguageModes: [.v6]
)
