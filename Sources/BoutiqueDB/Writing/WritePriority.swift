/// Who goes first when several writes wait.
public enum WritePriority: Sendable, Hashable {
  /// In order of arrival.
  case normal
  /// After every normal write, of this process and of others, that comes before this one has waited for
  /// ``BoutiqueConfiguration/backgroundWriteAging``; from then on as a normal one.
  case background
}
