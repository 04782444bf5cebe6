// swift-tools-version: 6.1
import PackageDescription

// A user's package: it depends on this one by path and has no flags of its own. `run` builds it.
let package = Package(
  name: "UserPackage",
  dependencies: [.package(name: "BoutiqueDB", path: "../..")],
  targets: [
    .executableTarget(
      name: "notes", dependencies: [.product(name: "BoutiqueDB", package: "BoutiqueDB")]),
    .executableTarget(
      name: "interfaces",
      dependencies: [
        .product(name: "Blackbird", package: "BoutiqueDB"),
        .product(name: "Boutique", package: "BoutiqueDB"),
      ]),
  ]
)
