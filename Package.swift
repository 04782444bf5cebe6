// swift-tools-version: 6.1
import CompilerPluginSupport
import Foundation
import PackageDescription

// Which target may import which is the table in CONTRIBUTING.md; `.ci/check-imports` holds it.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  // Places where the stress harness may disturb a process; see `FaultPoint`.
  .define("FAULT_POINTS", .when(configuration: .debug)),
]

// The macros use the SwiftSyntax that comes with the toolchain, so that nobody has to build it. That
// takes unsafe flags, which SwiftPM refuses in a package that is depended on by version. Such a
// package, and a toolchain without these libraries, use the swift-syntax package instead. So does
// everyone who sets BOUTIQUE_SWIFT_SYNTAX=package, which is for those whose other macros have
// swift-syntax built anyway: the two cannot be told apart in one build.
let toolchainSyntax: String? = {
  // SwiftPM reads the manifest of a version from its repository, as if it lay in the root directory,
  // to resolve dependencies, and from its own copy of the version to build it; that lies in `checkouts`
  // beside `repositories`.
  let directory = Context.packageDirectory
  let isVersion =
    directory == "/" || directory.contains("/registry/downloads/")
    || (directory.split(separator: "/").dropLast().last == "checkouts"
      && FileManager.default.fileExists(atPath: directory + "/../../repositories"))
  if isVersion || Context.environment["BOUTIQUE_SWIFT_SYNTAX"] == "package" { return nil }
  // This manifest runs on a library of its toolchain, whose place tells that of the others.
  let own = "/lib/swift/pm/ManifestAPI/libPackageDescription.so"
  // To its end: `String(contentsOfFile:)` stops after the first 4 KiB of a file of /proc.
  let handle = FileHandle(forReadingAtPath: "/proc/self/maps")
  let mappings = String(decoding: (try? handle?.readToEnd()) ?? Data(), as: UTF8.self)
  guard let mapping = mappings.split(separator: "\n").first(where: { $0.hasSuffix(own) }),
    let path = mapping.firstIndex(of: "/").map({ mapping[$0...].dropLast(own.count) })
  else { return nil }
  let host = "\(path)/lib/swift/host"
  let isThere = FileManager.default.fileExists(atPath: "\(host)/SwiftSyntaxMacros.swiftmodule")
  return isThere ? host : nil
}()
let syntaxModules = [
  "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftDiagnostics", "SwiftIfConfig",
]
let syntaxTestModules = ["SwiftParser", "SwiftSyntaxMacroExpansion"]
func syntaxProducts(_ modules: [String]) -> [Target.Dependency] {
  toolchainSyntax == nil ? modules.map { .product(name: $0, package: "swift-syntax") } : []
}
func syntaxFlags(_ modules: [String]) -> [LinkerSetting] {
  guard let host = toolchainSyntax else { return [] }
  let search = ["-L", host, "-Xlinker", "-rpath", "-Xlinker", host]
  return [.unsafeFlags(search + modules.map { "-l\($0)" })]
}
let syntaxSettings: [SwiftSetting] = toolchainSyntax.map { [.unsafeFlags(["-I", $0])] } ?? []

let package = Package(
  name: "BoutiqueDB",
  products: [
    .library(name: "BoutiqueDB", targets: ["BoutiqueDB"]),
    .library(name: "StructuredQueries", targets: ["StructuredQueries"]),
    .library(name: "Blackbird", targets: ["Blackbird"]),
    .library(name: "Boutique", targets: ["Boutique"]),
    .executable(name: "boutique", targets: ["boutique"]),
    .executable(name: "boutique-locks", targets: ["boutique-locks"]),
    .executable(name: "boutique-bench", targets: ["boutique-bench"]),
  ],
  dependencies: toolchainSyntax == nil
    ? [.package(url: "https://github.com/swiftlang/swift-syntax.git", "603.0.0"..<"604.0.0")] : [],
  targets: [
    // The macros, and the program that the compiler runs for them.
    .target(
      name: "StructuredQueriesMacros", dependencies: syntaxProducts(syntaxModules),
      swiftSettings: strict + syntaxSettings, linkerSettings: syntaxFlags(syntaxModules)),
    .macro(
      name: "StructuredQueriesPlugin",
      dependencies: ["StructuredQueriesMacros"]
        + syntaxProducts(["_SwiftCompilerPluginMessageHandling"]),
      swiftSettings: strict + syntaxSettings,
      linkerSettings: syntaxFlags(["SwiftCompilerPluginMessageHandling"])),

    // System libraries and C.
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CInotifyTools", providers: [.apt(["libinotifytools0-dev"])]),
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .target(name: "CLinuxShims"),

    // Where the stress harness takes hold of the library; empty in release builds.
    .target(name: "FaultPoints", swiftSettings: strict),

    // The three rooms that do not know each other.
    .target(
      name: "StructuredQueries", dependencies: ["StructuredQueriesPlugin"], swiftSettings: strict),
    .target(name: "SQLiteConnection", dependencies: ["CSQLite"], swiftSettings: strict),
    .target(
      name: "SharedFileCoordination",
      dependencies: ["CInotifyTools", "CLinuxShims", "FaultPoints"],
      swiftSettings: strict),

    // The engine.
    .target(
      name: "BoutiqueDB",
      dependencies: [
        "StructuredQueries", "SQLiteConnection", "SharedFileCoordination", "FaultPoints",
      ],
      swiftSettings: strict),

    // The other two interfaces.
    .target(name: "Blackbird", dependencies: ["BoutiqueDB"], swiftSettings: strict),
    .target(
      name: "Boutique", dependencies: ["BoutiqueDB", "CSodium", "FaultPoints"],
      swiftSettings: strict),

    // Programs.
    .target(
      name: "CommandLineSupport", path: "Tools/CommandLineSupport", swiftSettings: strict),
    .executableTarget(
      name: "boutique", dependencies: ["BoutiqueDB", "CommandLineSupport"],
      path: "Tools/boutique", swiftSettings: strict),
    .executableTarget(
      name: "boutique-demo", dependencies: ["BoutiqueDB", "CommandLineSupport"],
      path: "Tools/boutique-demo", swiftSettings: strict),

    // What `boutique-locks` finds out, apart from how it shows it.
    .target(
      name: "LockInspection", dependencies: ["SharedFileCoordination", "SQLiteConnection"],
      path: "Tools/LockInspection", swiftSettings: strict),
    .executableTarget(
      name: "boutique-locks", dependencies: ["LockInspection", "CommandLineSupport"],
      path: "Tools/boutique-locks", swiftSettings: strict),
    .target(
      name: "CPlainSQLite", path: "Tools/CPlainSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
    .executableTarget(
      name: "boutique-bench",
      dependencies: [
        "CPlainSQLite",
        "BoutiqueDB", "Blackbird", "Boutique", "SQLiteConnection", "SharedFileCoordination",
        "CommandLineSupport",
      ],
      path: "Tools/boutique-bench", swiftSettings: strict),

    // Small programs that the documents show.
    .executableTarget(
      name: "example-live-board", dependencies: ["BoutiqueDB"], path: "Tools/Examples/live-board",
      swiftSettings: strict),
    .executableTarget(
      name: "example-live-events", dependencies: ["BoutiqueDB"], path: "Tools/Examples/live-events",
      exclude: ["check-in-browser"], swiftSettings: strict),
    .executableTarget(
      name: "example-json-mirror", dependencies: ["BoutiqueDB"], path: "Tools/Examples/json-mirror",
      swiftSettings: strict),

    .executableTarget(
      name: "example-shared-notes", dependencies: ["Boutique", "BoutiqueDB"],
      path: "Tools/Examples/shared-notes", swiftSettings: strict),

    // Long random runs.
    .target(
      name: "ConvergenceChecker", dependencies: ["BoutiqueDB", "ProcessHarness"],
      path: "StressTests/ConvergenceChecker", swiftSettings: strict),
    .executableTarget(
      name: "boutique-converge", dependencies: ["ConvergenceChecker", "CommandLineSupport"],
      path: "StressTests/boutique-converge", swiftSettings: strict),

    // The stress harness: what happened and whether it may, what goes wrong, what is shown of it, what is
    // done, and the program.
    .target(
      name: "StressHistory", path: "StressTests/StressHistory", swiftSettings: strict),
    .target(
      name: "CFaultVFS", path: "StressTests/CFaultVFS", linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(
      name: "StressFaults",
      dependencies: ["CFaultVFS", "FaultPoints", "ProcessHarness", "StressHistory"],
      path: "StressTests/StressFaults", swiftSettings: strict),
    .target(
      name: "StressReport", dependencies: ["StressFaults", "StressHistory"],
      path: "StressTests/StressReport", swiftSettings: strict),
    .target(
      name: "StressHarness",
      dependencies: [
        "Boutique", "Blackbird", "BoutiqueDB", "ConvergenceChecker", "FaultPoints",
        "ProcessHarness", "StressFaults", "StressHistory", "StressReport",
      ],
      path: "StressTests/StressHarness", swiftSettings: strict),
    .executableTarget(
      name: "boutique-stress",
      dependencies: [
        "CommandLineSupport", "FaultPoints", "StressFaults", "StressHarness", "StressHistory",
        "StressReport",
      ],
      path: "StressTests/boutique-stress", swiftSettings: strict),

    // Test support.
    .target(
      name: "ProcessHarness", path: "Tests/Support/ProcessHarness", swiftSettings: strict),
    .target(
      name: "TestDatabase", dependencies: ["BoutiqueDB"], path: "Tests/Support/TestDatabase",
      swiftSettings: strict),
    .executableTarget(
      name: "boutique-test-worker",
      dependencies: [
        "BoutiqueDB", "Blackbird", "Boutique", "SharedFileCoordination", "ProcessHarness",
      ],
      path: "Tests/Support/worker", swiftSettings: strict),

    // Tests.
    .testTarget(
      name: "StructuredQueriesTests",
      dependencies: ["StructuredQueries", "BoutiqueDB", "TestDatabase"], swiftSettings: strict),
    .testTarget(
      name: "StructuredQueriesMacrosTests",
      dependencies: ["StructuredQueriesMacros", "StructuredQueries"]
        + syntaxProducts(syntaxModules + syntaxTestModules),
      swiftSettings: strict + syntaxSettings,
      linkerSettings: syntaxFlags(syntaxModules + syntaxTestModules)),
    .testTarget(
      name: "SQLiteConnectionTests", dependencies: ["SQLiteConnection", "CSQLite"],
      swiftSettings: strict),
    .testTarget(
      name: "SharedFileCoordinationTests", dependencies: ["SharedFileCoordination", "CLinuxShims"],
      swiftSettings: strict),
    .testTarget(
      name: "BoutiqueDBTests",
      dependencies: ["BoutiqueDB", "SQLiteConnection", "ProcessHarness", "TestDatabase"],
      swiftSettings: strict),
    .testTarget(
      name: "DocumentedSnippets",
      dependencies: ["BoutiqueDB", "Blackbird", "Boutique", "TestDatabase"],
      swiftSettings: strict),
    .testTarget(
      name: "BlackbirdTests", dependencies: ["Blackbird", "BoutiqueDB", "TestDatabase"],
      swiftSettings: strict),
    .testTarget(
      name: "BlackbirdMultiProcessTests",
      dependencies: [
        "Blackbird", "BoutiqueDB", "ProcessHarness", "TestDatabase", "boutique-test-worker",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "BoutiqueTests", dependencies: ["Boutique", "BoutiqueDB", "TestDatabase"],
      swiftSettings: strict),
    .testTarget(
      name: "BoutiqueMultiProcessTests",
      dependencies: [
        "Boutique", "BoutiqueDB", "ProcessHarness", "TestDatabase", "boutique-test-worker",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "CommandLineSupportTests", dependencies: ["CommandLineSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "BoutiqueCommandTests", dependencies: ["boutique", "ProcessHarness", "TestDatabase"],
      swiftSettings: strict),
    .testTarget(
      name: "BoutiqueBenchTests",
      dependencies: ["boutique", "boutique-bench", "ProcessHarness", "TestDatabase"],
      swiftSettings: strict),
    .testTarget(
      name: "MultiProcessTests",
      dependencies: [
        "BoutiqueDB", "SharedFileCoordination", "ProcessHarness", "TestDatabase",
        "boutique-test-worker",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LockInspectionTests",
      dependencies: [
        "LockInspection", "SharedFileCoordination", "ProcessHarness", "TestDatabase",
        "boutique-locks", "boutique-test-worker",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ExampleTests",
      dependencies: [
        "BoutiqueDB", "ProcessHarness", "TestDatabase", "example-live-board",
        "example-live-events", "example-json-mirror", "example-shared-notes",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ConvergenceTests",
      dependencies: ["ConvergenceChecker", "ProcessHarness", "TestDatabase", "boutique-converge"],
      swiftSettings: strict),
    .testTarget(
      name: "StressHarnessTests",
      dependencies: [
        "BoutiqueDB", "FaultPoints", "ProcessHarness", "StressFaults", "StressHarness",
        "StressHistory", "StressReport", "TestDatabase", "boutique-stress",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ProcessHarnessTests", dependencies: ["ProcessHarness", "boutique-test-worker"],
      swiftSettings: strict),
  ]
)
