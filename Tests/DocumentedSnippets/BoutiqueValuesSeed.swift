import Boutique
import Observation

// The seed's preferences, as they were written.

@Observable
final class SeedPreferences {
  var userExperiencePreferences = UserExperiencePreferences()
  var redPandaPreferences = RedPandaPreferences()
}

@MainActor
@Observable
final class UserExperiencePreferences {
  /// Whether sounds are played.
  @ObservationIgnored
  @StoredValue(key: "hasSoundEffectsEnabled")
  public var hasSoundEffectsEnabled = false
}

@MainActor
@Observable
final class RedPandaPreferences {
  /// Whether the user likes red pandas.
  @ObservationIgnored
  @StoredValue(key: "isRedPandaFan")
  public var isRedPandaFan = true
}

enum SeedTheme: String, Codable, Sendable, Equatable {
  case light
  case dark
  case system
}
