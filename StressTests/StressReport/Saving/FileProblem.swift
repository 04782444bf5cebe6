import Foundation

/// What is wrong with a file, in the words of the system and without those of a framework.
package enum FileProblem {
  /// What an error of reading, writing or decoding comes to.
  package static func text(_ error: any Error) -> String {
    switch error {
    case let error as CocoaError: text(error)
    case let error as DecodingError: text(error)
    default: "\(error)"
    }
  }

  /// The same, with the file that it is about in front, where the error names one.
  package static func textWithPath(_ error: any Error) -> String {
    guard let error = error as? CocoaError else { return text(error) }
    let path = error.filePath ?? error.url?.path(percentEncoded: false)
    return (path.map { "\($0): " } ?? "") + text(error)
  }

  private static func text(_ error: CocoaError) -> String {
    var cause: (any Error)? = error.underlying
    while let found = cause {
      if let code = (found as? POSIXError)?.code {
        return String(cString: strerror(code.rawValue))
      }
      let nested = found as NSError
      if nested.domain == NSPOSIXErrorDomain {
        return String(cString: strerror(CInt(truncatingIfNeeded: nested.code)))
      }
      cause = nested.userInfo[NSUnderlyingErrorKey] as? any Error
    }
    return switch error.code {
    case .fileNoSuchFile, .fileReadNoSuchFile: String(cString: strerror(ENOENT))
    case .fileReadNoPermission, .fileWriteNoPermission: String(cString: strerror(EACCES))
    case .fileWriteFileExists: String(cString: strerror(EEXIST))
    case .fileWriteOutOfSpace: String(cString: strerror(ENOSPC))
    case .fileWriteVolumeReadOnly: String(cString: strerror(EROFS))
    case .fileReadCorruptFile, .propertyListReadCorrupt: "it is not what it should be"
    default: "error \(error.code.rawValue) of the file system"
    }
  }

  private static func text(_ error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, let context):
      return "there is no “\(key.stringValue)”\(place(context))"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return "a value of another kind is expected\(place(context))"
    case .dataCorrupted(let context):
      // Without a place the text as a whole is no JSON, and what is said of it is a framework's matter.
      return context.codingPath.isEmpty
        ? "it is no JSON" : "\(context.debugDescription)\(place(context))"
    @unknown default: return "it cannot be understood"
    }
  }

  private static func place(_ context: DecodingError.Context) -> String {
    if context.codingPath.isEmpty { return "" }
    let path = context.codingPath.map { key in key.intValue.map { "[\($0)]" } ?? key.stringValue }
    return " at \(path.joined(separator: "."))"
  }
}
