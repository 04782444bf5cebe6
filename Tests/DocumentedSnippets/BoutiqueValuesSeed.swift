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
  @ObservationIgnored
  @StoredValue(key: "hasSoundEffectsEnabled")
  public var hasSoundEffectsEnabled = false
}

@MainActor
@Observable
final class RedPandaPreferences {
  @ObservationIgnored
  @StoredValue(key: "isRedPandaFan")
  public var isRedPandaFan = true
}

enum SeedTheme: String, Codable, Sendable, Equatable {
  case light
  case dark
  case system
}
