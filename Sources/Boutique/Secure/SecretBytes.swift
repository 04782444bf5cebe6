import CSodium
import Foundation

/// Bytes in memory of libsodium's: kept out of swap and core dumps as far as the limits allow, between
/// pages that end the program when they are touched, wiped when they are given up.
///
/// `@unchecked Sendable`: the bytes are written in `init` only, and then made read-only by the kernel.
final class SecretBytes: @unchecked Sendable {
  let count: Int
  private let bytes: UnsafeMutableRawPointer

  /// Makes room and has it filled.
  init(
    count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    bytes = try SecretMemory.allocate(count)
    self.count = count
    do {
      try fill(UnsafeMutableRawBufferPointer(start: bytes, count: count))
    } catch {
      sodium_free(bytes)
      throw error
    }
    sodium_mprotect_readonly(bytes)
  }

  deinit { sodium_free(bytes) }

  /// Calls a closure with the bytes, which are valid during the call only.
  func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try body(UnsafeRawBufferPointer(start: bytes, count: count))
  }
}

/// Memory for secrets.
enum SecretMemory {
  private static let isReady = sodium_init() >= 0

  /// Returns memory to be given up with `sodium_free`, which wipes it.
  static func allocate(_ count: Int) throws -> UnsafeMutableRawPointer {
    guard isReady, let bytes = sodium_malloc(count) else { throw SecureValueError.noMemory }
    return bytes
  }

  /// Returns data in such memory, of some length, that is wiped when nobody holds it any more.
  static func data(count: Int, _ fill: (UnsafeMutableRawPointer) throws -> Void) throws -> Data {
    let bytes = try allocate(max(count, 1))
    do {
      try fill(bytes)
    } catch {
      sodium_free(bytes)
      throw error
    }
    return Data(
      bytesNoCopy: bytes, count: count, deallocator: .custom { bytes, _ in sodium_free(bytes) })
  }

  /// Moves data into such memory and wipes where it was.
  static func guarded(_ data: inout Data) throws -> Data {
    let count = data.count
    let copy = try SecretMemory.data(count: count) { bytes in
      data.withUnsafeBytes { from in
        if let start = from.baseAddress { bytes.copyMemory(from: start, byteCount: count) }
      }
    }
    data.withUnsafeMutableBytes { from in
      if let start = from.baseAddress { sodium_memzero(start, count) }
    }
    return copy
  }

  /// Fills memory with random bytes.
  static func randomize(_ bytes: UnsafeMutableRawBufferPointer) throws {
    guard isReady else { throw SecureValueError.noMemory }
    if let start = bytes.baseAddress { randombytes_buf(start, bytes.count) }
  }
}
