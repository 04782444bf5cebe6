import Glibc

/// What sort of file a name promises.
enum FileKind {
  /// The kind of the rows that the coordinator plants for the `sqlite3` shell to delete.
  static let stale = "(stale rows)"

  private static let kinds: [String: String] = {
    let lists: [(kind: String, extensions: String)] = [
      ("text", "txt md rst text html htm xhtml css tex pod log"),
      ("manual", "1 2 3 4 5 6 7 8 3pm 3perl 1ssl 3ssl 7ssl info"),
      ("document", "pdf ps eps odt doc docx dvi"),
      ("image", "png svg jpg jpeg gif ico xpm webp bmp tif tiff"),
      ("sound and video", "wav ogg oga mp3 flac mp4 webm mkv avi"),
      ("font", "ttf otf pfb pfa woff woff2 afm pcf"),
      ("translation", "mo po gmo pot"),
      (
        "source code",
        "c h cc cpp hpp cxx hxx inc swift py pl pm js ts rb rs go java lua tcl el sh m4 awk"
      ),
      ("data", "json xml yaml yml csv tsv toml dat sql sqlite db"),
      ("settings", "conf cfg ini desktop service rules cmake mk pc prefs"),
      ("archive", "gz xz bz2 zst zip tar jar deb tgz"),
      ("machine code", "so a o ko elc pyc class"),
    ]
    var kinds: [String: String] = [:]
    for (kind, extensions) in lists {
      for word in extensions.split(separator: " ") { kinds[String(word)] = kind }
    }
    return kinds
  }()

  /// Returns the kind for a name and its permission bits.
  static func of(_ path: FilePath, mode: mode_t) -> String {
    let start = path.bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    let name = path.bytes[start...]
    guard let (rest, outer) = split(name) else { return program(mode) ?? "other" }
    // A compressed manual page is a manual page.
    if compressions.contains(outer), let (_, inner) = split(rest), let kind = kinds[inner] {
      return kind
    }
    return kinds[outer] ?? program(mode) ?? "other"
  }

  private static let compressions: Set<String> = ["gz", "xz", "bz2", "zst"]

  private static func program(_ mode: mode_t) -> String? { mode & 0o111 != 0 ? "program" : nil }

  /// Takes the extension off a name; nil when there is none.
  private static func split(_ name: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, String)? {
    // A dot at the front hides a file; it begins no extension.
    guard let dot = name.dropFirst().lastIndex(of: UInt8(ascii: ".")),
      let text = String(validating: name[(dot + 1)...], as: UTF8.self)
    else { return nil }
    return (name[..<dot], text.lowercased())
  }
}
