/// The mark that some programs put at the head of text files.
enum ByteOrderMark {
  /// Skips the mark of UTF-8 and refuses those of UTF-16, which no byte of valid UTF-8 equals.
  static func skip(_ input: ByteInput) throws(MalformedInput) {
    do {
      switch try input.peek() {
      case 0xEF:
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        for byte in mark {
          guard try input.next() == byte else {
            throw MalformedInput(line: 1, column: 1, reason: .invalidUTF8)
          }
        }
      case 0xFE, 0xFF:
        throw MalformedInput(line: 1, column: 1, reason: .otherEncoding("UTF-16"))
      default:
        break
      }
    } catch let failure as ByteInput.ReadFailure {
      throw MalformedInput(line: 1, column: 1, reason: .unreadable(errno: failure.errno))
    } catch let malformed as MalformedInput {
      throw malformed
    } catch {
      throw MalformedInput(line: 1, column: 1, reason: .other("\(error)"))
    }
  }
}
