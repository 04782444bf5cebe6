import BoutiqueDB

/// Reads a settings database when it is opened and again what each commit changed, whoever made it.
///
/// One reader for all values of a database. It does not own the engine: it ends when its task is
/// cancelled.
struct SettingsFollower: Sendable {
  let database: SettingsDatabase
  let inbox: SettingsInbox

  func run() async {
    var pause = Duration.milliseconds(250)
    var followed: BoutiqueDB?
    while !Task.isCancelled {
      do {
        let db = try await database.opened()
        do {
          let beginsAnew = followed != nil && followed !== db
          followed = db
          try await follow(db, beginsAnew: beginsAnew) { pause = .milliseconds(250) }
          return
        } catch let error as BoutiqueError {
          switch error {
          case .closed, .usedAcrossFork:
            inbox.post(.trouble(error))
            return
          case .fileReplaced where !database.isGiven: await database.giveUp(db)
          default: break
          }
          throw error
        }
      } catch is CancellationError {
        return
      } catch {
        inbox.post(.trouble(error))
      }
      // What kept it from being read may pass: a directory that is made later, a full disk.
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .seconds(30))
    }
  }

  private func follow(
    _ db: BoutiqueDB, beginsAnew: Bool, _ isReading: () -> Void
  ) async throws {
    let token = try await readAll(db, beginsAnew: beginsAnew)
    isReading()
    for try await change in db.changes(since: token) {
      guard let rows = SettingsTables.rows(in: change) else {
        _ = try await readAll(db, beginsAnew: false)
        continue
      }
      if rows.isEmpty { continue }
      let (found, seen) = try await db.readWithToken { connection in
        try SettingsTables.read(rows, on: connection)
      }
      inbox.post(.rows(found, asked: rows, token: seen, beginsAnew: false))
    }
  }

  private func readAll(_ db: BoutiqueDB, beginsAnew: Bool) async throws -> ChangeToken {
    let (rows, token) = try await db.readWithToken { connection in
      try SettingsTables.readAll(on: connection)
    }
    inbox.post(.rows(rows, asked: nil, token: token, beginsAnew: beginsAnew))
    return token
  }
}
