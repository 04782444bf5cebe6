// A board of jobs that redraws itself whenever any process changes one: example-live-board DATABASE
//
// Try it with a second terminal:
//   sqlite3 jobs.db "INSERT INTO job (name, state, progress) VALUES ('index', 'running', 40)"

import BoutiqueDB
import Dispatch
import Foundation
import Glibc

guard CommandLine.arguments.count == 2 else {
  FileHandle.standardError.write(Data("usage: example-live-board DATABASE\n".utf8))
  exit(2)
}
do {
  let db = try await BoutiqueDB.open(path: CommandLine.arguments[1], migrations: .jobs)
  let screen = Screen()
  let drawing = Task {
    for try await board in db.observe(Board.read) { screen.draw(board.lines) }
  }
  // Control-C ends the loop, and the terminal gets its screen back.
  let signals = [SIGINT, SIGTERM].map { number in
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
    source.setEventHandler { drawing.cancel() }
    source.resume()
    return source
  }
  screen.open()
  let result = await drawing.result
  screen.close()
  for source in signals { source.cancel() }
  await db.close()
  try result.get()
} catch {
  FileHandle.standardError.write(Data("example-live-board: \(error)\n".utf8))
  exit(1)
}
