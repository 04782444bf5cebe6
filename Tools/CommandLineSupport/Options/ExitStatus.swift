/// The number a program ends with.
package enum ExitStatus: Int32, Sendable {
  /// What was asked for was done.
  case success = 0

  /// It could not be done; standard error says why.
  case failure = 1

  /// The command line itself was wrong; nothing was tried.
  case usage = 2
}
