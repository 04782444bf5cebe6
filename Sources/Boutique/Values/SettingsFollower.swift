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
    let (rows, token) = try await db.read(since: nil) { connection, now in
      (try SettingsTables.readAll(on: connection), now.token)
    }
    inbox.post(.rows(rows, asked: nil, token: token, beginsAnew: beginsAnew))
    isReading()
    var seen = token
    for try await change in db.changes(since: token) {
      // What a foreign program commits has no number of its own.
      if change.token.number <= seen.number, !change.isEverything { continue }
      let (found, asked, now) = try await db.read(
        since: change.isEverything ? nil : seen
      ) { connection, recent -> ([SettingRow: SQLValue], Set<SettingRow>?, ChangeToken) in
        var asked: Set<SettingRow>? = change.isEverything ? nil : []
        for change in recent.changes {
          guard let rows = SettingsTables.rows(in: change) else {
            asked = nil
            break
          }
          asked?.formUnion(rows)
        }
        guard let asked else {
          return (try SettingsTables.readAll(on: connection), nil, recent.token)
        }
        return (try SettingsTables.read(asked, on: connection), asked, recent.token)
      }
      seen = now
      if asked?.isEmpty == true { continue }
      inbox.post(.rows(found, asked: asked, token: now, beginsAnew: false))
    }
  }
}
