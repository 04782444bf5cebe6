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
]

// The macros are built on the SwiftSyntax that comes with the toolchain, which saves its users from
// building that large package. It takes unsafe flags, and SwiftPM refuses these in a package that
// is depended on by version; there, and where the toolchain has no such libraries, the macros are
// built on the swift-syntax package as usual. BOUTIQUE_SWIFT_SYNTAX=package asks for the latter.
let toolchainSyntax: String? = {
  guard Context.environment["BOUTIQUE_SWIFT_SYNTAX"] != "package",
    !Context.packageDirectory.split(separator: "/").dropLast().suffix(1).contains("checkouts")
  else { return nil }
  // The library that runs this manifest lies in lib/swift/pm of the toolchain.
  let runtime = "/lib/swift/pm/ManifestAPI/libPackageDescription.so"
  let images = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
  guard let image = images?.split(separator: "\n").first(where: { $0.hasSuffix(runtime) }),
    let start = image.firstIndex(of: "/")
  else { return nil }
  let host = image[start...].dropLast(runtime.count) + "/lib/swift/host"
  let module = host + "/SwiftSyntaxMacros.swiftmodule"
  return FileManager.default.fileExists(atPath: String(module)) ? String(host) : nil
}()
let syntaxDependencies: [Package.Dependency] = toolchainSyntax == nil
  ? [.package(url: "https://github.com/swiftlang/swift-syntax.git", "602.0.0"..<"604.0.0")] : []
let syntaxProducts: [Target.Dependency] = toolchainSyntax == nil
  ? ["SwiftSyntaxMacros", "SwiftCompilerPlugin"].map { .product(name: $0, package: "swift-syntax") }
  : []
let syntaxSettings: [SwiftSetting] = toolchainSyntax.map { [.unsafeFlags(["-I", $0])] } ?? []
let syntaxLinking: [LinkerSetting] = toolchainSyntax.map { host in
  [.unsafeFlags(["-L", host, "-Xlinker", "-rpath", "-Xlinker", host] + [
    "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros", "SwiftSyntaxMacroExpansion", "SwiftParser", "SwiftDiagnostics", "SwiftCompilerPluginMessageHandling", "SwiftBasicFormat"].map { "-l" + $0 })]
} ?? []

let package = Package(
  name: "BoutiqueDB",
  products: [
    .library(name: "BoutiqueDB", targets: ["BoutiqueDB"]),
    .library(name: "StructuredQueries", targets: ["StructuredQueries"]),
    .executable(name: "boutique", targets: ["boutique"]),
  ],
  dependencies: syntaxDependencies,
  targets: [
    // The compiler plug-in.
    .macro(
      name: "StructuredQueriesMacros", dependencies: syntaxProducts,
      swiftSettings: strict + syntaxSettings, linkerSettings: syntaxLinking),

    // System libraries and C.
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CInotifyTools", providers: [.apt(["libinotifytools0-dev"])]),
    .target(name: "CLinuxShims"),

    // The three rooms that do not know each other.
    .target(
      name: "StructuredQueries", dependencies: ["StructuredQueriesMacros"], swiftSettings: strict),
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
      name: "StructuredQueriesMacrosTests",
      dependencies: ["StructuredQueriesMacros", "StructuredQueries"],
      swiftSettings: strict + syntaxSettings, linkerSettings: syntaxLinking),
    .testTarget(
      name: "SQLiteConnectionTests", dependencies: ["SQLiteConnection", "CSQLite"],
      swiftSettings: strict),
    .testTarget(
      name: "SharedFileCoordinationTests", dependencies: ["SharedFileCoordination", "CLinuxShims"],
      swiftSettings: strict),
    .testTarget(
      name: "BoutiqueDBTests", dependencies: ["BoutiqueDB", "TestDatabase"],
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
