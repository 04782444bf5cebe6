/// What the change log keeps of a changed row; the names are Turso's.
public enum CaptureMode: String, Sendable, Codable, CaseIterable {
  /// Only that the table changed, as a whole: live queries run again, and feeds name it among the whole tables.
  case off
  /// Which row changed.
  case id
  /// Also the whole row as it was before an update or a delete.
  case before
  /// Also the whole row as it is after an insert or an update.
  case after
  /// Both rows, and for an update which columns were set to what.
  case full
}
