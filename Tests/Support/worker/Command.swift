import BoutiqueDB
import ProcessHarness

/// One line from the harness.
struct Command: Sendable {
  let id: Int
  let verb: String
  private let members: JSONValue

  init?(_ json: JSONValue) {
    guard let id = json["id"]?.int, let verb = json["do"]?.string else { return nil }
    self.id = id
    self.verb = verb
    members = json
  }

  subscript(name: String) -> JSONValue? { members[name] }

  func text(_ name: String) throws -> String {
    guard let text = self[name]?.string else {
      throw Worker.Misuse(description: "\(verb) needs the text “\(name)”")
    }
    return text
  }

  func integer(_ name: String) throws -> Int {
    guard let integer = self[name]?.int else {
      throw Worker.Misuse(description: "\(verb) needs the number “\(name)”")
    }
    return integer
  }

  func texts(_ name: String) -> [String] { self[name]?.list?.compactMap(\.string) ?? [] }

  func milliseconds(_ name: String) -> Duration? { self[name]?.int.map { .milliseconds($0) } }

  /// The member `arguments` as arguments of a statement.
  var arguments: [(any QueryBindable)?] { self["arguments"]?.list?.map(\.argument) ?? [] }

  /// Writes an event that belongs to this command.
  func emit(_ event: String, _ more: [String: JSONValue] = [:]) {
    var all = more
    all["re"] = .integer(Int64(id))
    boutique_test_worker.emit(event, all)
  }
}
