import CLinuxShims

/// The processors that this process may run on.
package enum Processor {
  /// How many there are; at least one.
  package static let count = Int(clx_processor_count())

  /// Lets the other half of the processor, and its bus, have a moment, in a loop that looks for something.
  package static func relax() { clx_relax() }
}
