import Glibc

/// Finds programs that the package builds: they lie beside the test bundle that is running.
package enum BuiltExecutable {
  /// Returns the path of a product of this build.
  package static func path(_ name: String) throws(ChildFailure) -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = buffer.withUnsafeMutableBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        readlink("/proc/self/exe", $0.baseAddress!, $0.count)
      }
    }
    guard length > 0 else {
      throw ChildFailure(
        .notStarted(call: "readlink /proc/self/exe", code: errno), child: name, awaited: "a path")
    }
    let own = String(decoding: buffer[..<length], as: UTF8.self)
    let directory = own[..<(own.lastIndex(of: "/") ?? own.startIndex)]
    let path = "\(directory)/\(name)"
    guard access(path, X_OK) == 0 else {
      throw ChildFailure(
        .notStarted(call: "access \(path)", code: errno), child: name,
        awaited: "the program beside \(own); build it with 'swift build --product \(name)'")
    }
    return path
  }
}
