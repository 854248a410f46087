import FileSystem
import Foundation
import TestNeeds
import TestSupport
import Testing

/// The holder of the lock of a target that several machines may mount. The file `lock` of its state names it.
/// A run continues only if that process has surely ended.
@Suite(.needs(.root, .overlay))
struct LockHolderTests {
    /// A target with this lock, for `body`.
    private func withTarget(_ disk: TestDisk = .overlay, _ body: (MirrorScene) throws -> Void) throws {
        let scene = try MirrorScene(["a": "a"], inMemory: true)
        try scene.mounted(disk, at: "target") {
            #expect(try apply(scene).code == 0)
            #expect(!scene.exists("target/m/.fsync-lite/lock"))
            try scene.append("more", to: "source/a")
            try body(scene)
        }
    }

    private func apply(_ scene: MirrorScene) throws -> CommandRun {
        try scene.run("apply", "source", "target/m", "--weak-commit")
    }

    private func plant(_ text: String, _ scene: MirrorScene) throws {
        try scene.build(
            .file(Array(text.utf8), mode: 0o600, modified: nil), at: "target/m/.fsync-lite/lock")
    }

    /// The lock as a run of this machine writes it.
    fileprivate struct Lock: Encodable {
        var version = 1
        var host: String
        var boot: String
        var process_namespace: String
        var process: Int32
        var started: UInt64

        init(of process: Int32) throws {
            host = try HostProcess.machine()
            boot = try KernelClock.boot()
            process_namespace = try HostProcess.processNamespace()
            self.process = process
            started = try #require(try HostProcess.start(of: process))
        }

        var text: String {
            get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
        }
    }

    /// A value of the lock that does not fit this running process, and whether its writer has surely ended.
    struct Claim: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isOver: Bool
        fileprivate let change: @Sendable (inout Lock) -> Void
    }

    private static let claims: [Claim] = [
        Claim(testDescription: "it runs", isOver: false) { _ in },
        Claim(testDescription: "its number was used again", isOver: true) { $0.started -= 1 },
        Claim(testDescription: "it ran before this boot", isOver: true) { $0.boot = "another" },
        Claim(testDescription: "it is of another name space", isOver: false) {
            ($0.process_namespace, $0.started) = ("pid:[1]", 1)
        },
        Claim(testDescription: "of another name space, before this boot", isOver: true) {
            ($0.process_namespace, $0.boot) = ("pid:[1]", "another")
        },
        Claim(testDescription: "it is of another machine", isOver: false) {
            ($0.host, $0.started) = ("nas", 1)
        },
        Claim(testDescription: "of another machine, which has another boot", isOver: false) {
            ($0.host, $0.boot, $0.started) = ("nas", "another", 1)
        },
    ]

    @Test(arguments: claims) func aRunGoesOnOnlyIfTheHolderHasEnded(claim: Claim) throws {
        try withTarget { scene in
            var lock = try Lock(of: getpid())
            claim.change(&lock)
            try plant(lock.text, scene)
            let run = try apply(scene)
            #expect(run.code == (claim.isOver ? 0 : 75), "\(run.errors)")
            #expect(run.errors.contains("is writing to this target") == !claim.isOver, "\(run.errors)")
            #expect(try scene.text("target/m/a") == (claim.isOver ? "amore" : "a"))
            // A lock that a run has taken over is removed with it. Another one remains.
            #expect(scene.exists("target/m/.fsync-lite/lock") == !claim.isOver)
            guard lock.host == "nas" else { return }
            run.expect(says: "process \(getpid()) on nas is writing to this target")
            #expect(try scene.run("recover", "target/m").code == 75)
            #expect(try scene.run("recover", "--break-lock", "target/m").code == 0)
            #expect(try apply(scene).code == 0)
        }
    }

    /// A torn lock shows nothing. On an overlay no other machine can write; through bindfs one may.
    @Test(.needs(.bindfs), arguments: [TestDisk.overlay, .bindfs])
    func aTornLockExcludesWhereOtherMachinesMayWrite(disk: TestDisk) throws {
        let isShared = if case .overlay = disk { false } else { true }
        try withTarget(disk) { scene in
            for text in ["", "{\"version\":1,\"host\":\"na"] {
                try plant(text, scene)
                let run = try apply(scene)
                #expect(run.code == (isShared ? 75 : 0), "\(disk): \(run.errors)")
                _ = try scene.run("recover", "--break-lock", "target/m")
            }
        }
    }

    /// `recover --break-lock` on another machine took it over, and that machine writes now.
    @Test(.needs(.strace)) func aRunRemovesOnlyItsOwnLock() throws {
        try withTarget { scene in
            var lock = try Lock(of: getpid())
            lock.host = "nas"
            let text = try lock.text
            try scene.paused(
                ["apply", "source", "target/m", "--weak-commit"], at: .after("mkdirat", of: "stage")
            ) { try plant(text, scene) }.expect(0)
            #expect(try scene.text("target/m/.fsync-lite/lock") == text)
        }
    }
}
