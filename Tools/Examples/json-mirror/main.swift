import BoutiqueDB
import Foundation

// example-json-mirror DB TABLE FILE [--until-idle]
//
// Keeps FILE, in JSON Lines, equal to a table of a database that other processes write, through any death
// of its own. docs/change-feed.md explains it.

let arguments = CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("--") }
guard arguments.count == 3 else {
  FileHandle.standardError.write(Data("usage: example-json-mirror DB TABLE FILE\n".utf8))
  exit(2)
}
do {
  var configuration = BoutiqueConfiguration()
  configuration.label = "json-mirror"
  configuration.createIfMissing = false
  let db = try await BoutiqueDB.open(path: arguments[0], configuration: configuration)
  var mirror = try await TableMirror(db, table: arguments[1], file: MirrorFile(path: arguments[2]))
  try await mirror.follow(untilIdle: CommandLine.arguments.contains("--until-idle"))
  await db.close()
} catch {
  FileHandle.standardError.write(Data("example-json-mirror: \(error)\n".utf8))
  exit(1)
}
