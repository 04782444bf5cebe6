extension Blackbird.Database {
  /// How a database behaves.
  public struct Options: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int
    /// Creates options from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    static let inMemoryDatabase = Options(rawValue: 1 << 0)
    /// Opens for reading and observing only; every write throws.
    public static let readOnly = Options(rawValue: 1 << 1)
    /// Hears of changes by other processes.
    ///
    /// It is always so for files; the option is there for programs that say it.
    public static let monitorForExternalChanges = Options(rawValue: 1 << 2)
    /// Tells the log of every statement; see ``Blackbird/setLogHandler(_:)``.
    public static let debugPrintEveryQuery = Options(rawValue: 1 << 3)
    /// Shows the values in the statements that ``debugPrintEveryQuery`` tells of, in place of parameters.
    public static let debugPrintQueryParameterValues = Options(rawValue: 1 << 4)
    /// Tells the log of every change that a change publisher reports.
    public static let debugPrintEveryReportedChange = Options(rawValue: 1 << 5)
    /// Tells the log of the models' cache: what was found, what was not, what was dropped.
    public static let debugPrintCacheActivity = Options(rawValue: 1 << 6)
    /// Makes no table by itself: a model must have resolved its schema before its first use.
    public static let requireModelSchemaValidationBeforeUse = Options(rawValue: 1 << 7)
    /// Throws where the file does not exist, instead of making it.
    public static let requireExistingFile = Options(rawValue: 1 << 8)
  }
}
