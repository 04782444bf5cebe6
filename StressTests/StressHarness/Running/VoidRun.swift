/// Why a run shows nothing, neither good nor bad: something outside of what is tried has failed.
package struct VoidRun: Error, CustomStringConvertible {
  let reason: String

  /// What happened, and what to do.
  package var description: String {
    "void, neither kept nor broken: \(reason). Give the runs another place with --keep or TMPDIR"
  }
}
