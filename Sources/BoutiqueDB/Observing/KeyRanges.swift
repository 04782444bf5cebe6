// Which range of row ids a loop of a statement reads.
//
// For: `WHERE id BETWEEN ? AND ?` depends on the rows of that range, and a commit elsewhere in the table need not
// run it again: a page of a list, the newest messages, a thousand queries on one table.
//
// Why it is right: as in `KeyLookups`, the program is what computes the result. A cursor that is put on the first
// row from a key on and only goes up sees rows from there on. If the first thing done with each row is a test
// that leaves the loop beyond another key, then nothing is asked of a row outside. That there is such a row
// changes nothing either: without it the loop ends as well.
//
// Invariants
//  1. The cursor goes in one direction: up from a seek for keys not below, or down from one for keys not above.
//  2. An end counts only in a cursor with one loop, where the test stands at the loop's start, both after the
//     seek and after each step; all reading of rows stands between the test and the step; and whoever jumps
//     in there from elsewhere has made the cursor's row NULL.
//  3. Without an end (or a beginning) the range goes on to the last (or first) key.

import SQLiteConnection

extension KeyLookups {
  /// Returns the ranges in which a cursor on a table moves; nil when it may be anywhere.
  func rowIDRanges(by cursor: Int) -> Set<KeyLookup>? {
    var beginnings: [Int] = []
    var moves: [Int] = []
    var reads: [Int] = []
    for (index, step) in steps.enumerated() where opcodes[index].isOnCursor && step.p1 == cursor {
      switch step.opcode {
      case "OpenRead", "ReopenIdx", "ColumnsUsed", "NullRow", "Close": continue
      case "Column", "Rowid", "IfNullRow", "Offset", "FinishSeek": reads.append(index)
      case "SeekGE", "SeekGT", "SeekLE", "SeekLT", "Rewind", "Last": beginnings.append(index)
      case "Next", "Prev": moves.append(index)
      default: return nil
      }
    }
    let goesUp = beginnings.allSatisfy {
      ["SeekGE", "SeekGT", "Rewind"].contains(steps[$0].opcode)
    }
    let goesDown = beginnings.allSatisfy {
      ["SeekLE", "SeekLT", "Last"].contains(steps[$0].opcode)
    }
    guard !beginnings.isEmpty, goesUp != goesDown,
      moves.allSatisfy({ steps[$0].opcode == (goesUp ? "Next" : "Prev") })
    else { return nil }
    let end =
      beginnings.count == 1
      ? end(ofLoopFrom: beginnings[0], moves: moves, reads: reads, goesUp: goesUp) : nil
    var result: Set<KeyLookup> = []
    for index in beginnings {
      // Where that is not known, it may be the first row.
      let start =
        steps[index].opcode.hasPrefix("Seek")
        ? sources(of: steps[index].p3, before: index) : nil
      guard start != nil || end != nil else { return nil }
      result.insert(goesUp ? .range(from: start, to: end) : .range(from: end, to: start))
    }
    return result
  }

  /// Returns the key beyond which a loop ends; nil when it goes on as long as there are rows.
  private func end(
    ofLoopFrom beginning: Int, moves: [Int], reads: [Int], goesUp: Bool
  ) -> Set<KeySource>? {
    guard moves.count == 1, let move = moves.first else { return nil }
    let start = steps[move].p2
    let test = start + 1
    guard beginning < start, test < move,
      // Nothing but values is made between the seek and the loop.
      (beginning + 1..<start).allSatisfy({ !opcodes[$0].isOnCursor && isStraight($0) }),
      steps[start].opcode == "Rowid", steps[start].p1 == steps[beginning].p1,
      (goesUp ? ["Gt", "Ge"] : ["Lt", "Le"]).contains(steps[test].opcode),
      steps[test].p3 == steps[start].p2, steps[test].p2 > move,
      reads.allSatisfy({ $0 == start || (test < $0 && $0 < move) }),
      steps.indices.allSatisfy({
        !(test...move).contains(steps[$0].p2) || !opcodes[$0].mayJump
          || (beginning...move).contains($0) || comesWithNullRow($0, of: steps[beginning].p1)
      })
    else { return nil }
    return sources(of: steps[test].p1, before: test)
  }

  /// Whether a step is followed by the next one, whatever happens.
  private func isStraight(_ index: Int) -> Bool {
    ["Variable", "Integer", "Int64", "Real", "Copy", "SCopy", "IntCopy", "Noop"].contains(
      steps[index].opcode)
  }

  private func comesWithNullRow(_ index: Int, of cursor: Int) -> Bool {
    index > 0 && steps[index].opcode == "Goto" && steps[index - 1].opcode == "NullRow"
      && steps[index - 1].p1 == cursor
  }
}
