import CommandLineSupport
import Glibc
import Testing

@Suite struct TextOutputTests {
  private func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    try #require(Glibc.pipe(&ends) == 0)
    return (ends[0], ends[1])
  }

  @Test func `text arrives when it is flushed`() throws {
    let ends = try pipe()
    defer { close(ends.reading) }
    let output = TextOutput(fileDescriptor: ends.writing)
    try output.write("héllo ")
    try output.write("wörld\n")
    try output.flush()
    close(ends.writing)
    let input = ByteInput(fileDescriptor: ends.reading, closes: false)
    var reader = DelimitedReader(input, format: .csv)
    var record = DelimitedRecord()
    #expect(try reader.next(into: &record))
    #expect(try record.text(0) == "héllo wörld")
  }

  @Test func `a reader that has gone is an error of its own`() throws {
    TextOutput.ignoreBrokenPipes()
    let ends = try pipe()
    close(ends.reading)
    defer { close(ends.writing) }
    let output = TextOutput(fileDescriptor: ends.writing)
    try output.write("x")
    #expect(throws: OutputError.readerGone) { try output.flush() }
  }

  @Test func `a full disk is an error with its reason`() throws {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    try #require(full >= 0)
    defer { close(full) }
    let output = TextOutput(fileDescriptor: full)
    try output.write("x")
    #expect(throws: OutputError.failed(errno: ENOSPC)) { try output.flush() }
    #expect(OutputError.failed(errno: ENOSPC).description.contains("No space left"))
  }
}
