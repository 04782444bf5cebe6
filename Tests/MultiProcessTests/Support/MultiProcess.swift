import Testing

/// What must hold when several processes share one database, seen with real processes.
///
/// Serialized: each test has the machine's few cores to itself.
@Suite(.serialized) enum MultiProcess {}
