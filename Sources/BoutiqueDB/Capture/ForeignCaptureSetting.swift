extension BoutiqueDB {
  /// Sets how commits of programs that do not use this library are described, for every process.
  ///
  /// The setting is kept in the database, with the triggers that it needs. A configuration can only add
  /// precision; this also takes it away.
  ///
  /// - Parameters:
  ///   - capture: precise makes the triggers, coarse removes them.
  ///   - tables: the tables that get triggers; nil for all.
  public func setForeignCapture(
    _ capture: BoutiqueConfiguration.ForeignCapture, tables: Set<String>? = nil
  ) async throws {
    let request = ForeignCapture.Request(
      isPrecise: capture == .precise, selection: tables, isAddition: false)
    let hub = core.hub
    try await core.maintain(purpose: "set foreign capture") { writer in
      writer.log.foreign.ask(for: request)
      let change = try writer.committing(since: .now()) { _ in }
      if let adopted = writer.log.adopted { hub.publish(adopted) }
      if let change { hub.publish(change) }
    }
  }

  /// Returns how commits of programs that do not use this library are described in this database.
  public func foreignCapture() async throws -> BoutiqueConfiguration.ForeignCapture {
    try await core.read { connection in
      try ForeignCapture.isPrecise(on: connection.sqlite) ? .precise : .coarse
    }
  }
}
