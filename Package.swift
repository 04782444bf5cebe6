// swift-tools-version: 6.1
import PackageDescription

// Which target may import which is the table in CONTRIBUTING.md; `.ci/check-imports` holds it.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "BoutiqueDB",
  products: [
    .library(name: "BoutiqueDB", targets: ["BoutiqueDB"]),
    .library(name: "StructuredQueries", targets: ["StructuredQueries"]),
    .executable(name: "boutique", targets: ["boutique"]),
  ],
  targets: [
    // System libraries and C.
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CInotifyTools", providers: [.apt(["libinotifytools0-dev"])]),
    .target(name: "CLinuxShims"),

    // The three rooms that do not know each other.
    .target(name: "StructuredQueries", swiftSettings: strict),
    .target(name: "SQLiteConnection", dependencies: ["CSQLite"], swiftSettings: strict),
    .target(
      name: "SharedFileCoordination", dependencies: ["CInotifyTools", "CLinuxShims"],
      swiftSettings: strict),

    // The engine.
    .target(
      name: "BoutiqueDB",
      dependencies: ["StructuredQueries", "SQLiteConnection", "SharedFileCoordination"],
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

    // Test support.
    .target(
      name: "ProcessHarness", path: "Tests/Support/ProcessHarness", swiftSettings: strict),
    .target(
      name: "TestDatabase", dependencies: ["BoutiqueDB"], path: "Tests/Support/TestDatabase",
      swiftSettings: strict),
    .executableTarget(
      name: "boutique-test-worker",
      dependencies: ["BoutiqueDB", "SharedFileCoordination", "ProcessHarness"],
      path: "Tests/Support/worker", swiftSettings: strict),

    // Tests.
    .testTarget(
      name: "StructuredQueriesTests", dependencies: ["StructuredQueries"], swiftSettings: strict),
    .testTarget(
      name: "SQLiteConnectionTests", dependencies: ["SQLiteConnection", "CSQLite"],
      swiftSettings: strict),
    .testTarget(
      name: "SharedFileCoordinationTests", dependencies: ["SharedFileCoordination", "CLinuxShims"],
      swiftSettings: strict),
    .testTarget(
      name: "BoutiqueDBTests", dependencies: ["BoutiqueDB", "SQLiteConnection", "TestDatabase"],
      swiftSettings: strict),
    .testTarget(
      name: "DocumentedSnippets", dependencies: ["BoutiqueDB", "TestDatabase"],
      swiftSettings: strict),
    .testTarget(
      name: "CommandLineSupportTests", dependencies: ["CommandLineSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "BoutiqueCommandTests", dependencies: ["boutique", "ProcessHarness", "TestDatabase"],
      swiftSettings: strict),
    .testTarget(
      name: "MultiProcessTests",
      dependencies: [
        "BoutiqueDB", "SharedFileCoordination", "ProcessHarness", "TestDatabase",
        "boutique-test-worker",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ProcessHarnessTests", dependencies: ["ProcessHarness", "boutique-test-worker"],
      swiftSettings: strict),
  ]
)
