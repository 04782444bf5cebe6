import CommandLineSupport

/// Where results go.
struct OutputSettings: Sendable {
  /// Where every run's directory is kept.
  var keep: String?
  var json: String?
  var html: String?

  /// The options for it, inside the settings of a command.
  static func options<Settings>(
    _ path: @escaping @Sendable (inout Settings, (inout OutputSettings) -> Void) -> Void
  ) -> [CommandOption<Settings>] {
    [
      .value(
        "keep", "DIR",
        help: "Keep what every run leaves behind there, also of those that went well."
      ) { settings, text in path(&settings) { $0.keep = text } },
      .value("json", short: "j", "FILE", help: "Write figures, faults and violations as JSON.") {
        settings, text in path(&settings) { $0.json = text }
      },
      .value("html", short: "o", "FILE", help: "Draw a report as one HTML page.") {
        settings, text in path(&settings) { $0.html = text }
      },
    ]
  }
}
