// A page in the browser that shows a table as it is now: example-live-events DATABASE [PORT]
//
// Serves the page and a stream of Server-Sent Events: after each commit of any process that changes what the
// page shows, the rows as JSON.

import BoutiqueDB
import Foundation
import Glibc

let arguments = CommandLine.arguments
guard (2...3).contains(arguments.count), let port = UInt16(arguments.count > 2 ? arguments[2] : "0")
else {
  FileHandle.standardError.write(Data("usage: example-live-events DATABASE [PORT]\n".utf8))
  exit(2)
}
do {
  let db = try await BoutiqueDB.open(path: arguments[1], migrations: .notes)
  let server = try EventServer(port: port)
  server.start()
  let line = "listening on http://127.0.0.1:\(server.port)/\n"
  FileHandle.standardOutput.write(Data(line.utf8))
  let encoder = JSONEncoder()
  // One observation for all clients.
  for try await notes in db.observe({ Note.all.order { $0.id } }) {
    server.publish(String(decoding: try encoder.encode(notes), as: UTF8.self))
  }
} catch {
  FileHandle.standardError.write(Data("example-live-events: \(error)\n".utf8))
  exit(1)
}
