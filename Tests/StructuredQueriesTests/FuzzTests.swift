import BoutiqueDB
import Foundation
import Testing

/// Random statements, made of everything the language has.
///
/// SQLite must be able to prepare each of them, and
/// must see as many parameters as there are values.
@Suite struct FuzzTests {
  @Test func `SQLite prepares every statement that can be written`() async throws {
    var seeds = SeededGenerator()
    let seed = seeds.seed
    let runs = (0..<1500).map { _ in seeds.next() }
    try await inLibrary { conn in
      var kinds: [String: Int] = [:]
      for run in runs {
        var maker = StatementMaker(SeededGenerator(seed: run))
        let (kind, statement) = maker.statement()
        kinds[kind, default: 0] += 1
        guard !statement.isEmpty else { continue }
        do {
          let prepared = try conn.prepare(statement.sql)
          #expect(prepared.sql == statement.sql)
          let values = try statement.bindings
          #expect(values.count == statement.sql.parameterCount, "seed \(seed): \(statement)")
          // Reading runs too: a cast or a function may fail only there.
          if kind == "select" || kind == "compound" { _ = try conn.query(statement) }
        } catch {
          Issue.record("seed \(seed), run \(run): \(error)\n\(statement.debugDescription)")
        }
      }
      // No arm of the generator is dead.
      #expect(kinds.count == 9, "\(kinds)")
    }
  }
}

extension String {
  /// The question marks outside of quotes.
  fileprivate var parameterCount: Int {
    var count = 0
    var quote: Character?
    for character in self {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "?" {
        count += 1
      }
    }
    return count
  }
}

/// Makes random statements over the library's tables.
struct StatementMaker {
  var random: SeededGenerator
  private var depth = 0

  init(_ random: SeededGenerator) { self.random = random }

  private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
  private mutating func chance(_ count: Int) -> Bool { pick(count) == 0 }

  private mutating func deeper<T>(_ leaf: T, _ make: (inout StatementMaker) -> T) -> T {
    guard depth < 3 else { return leaf }
    depth += 1
    defer { depth -= 1 }
    return make(&self)
  }

  // MARK: Expressions over a book

  mutating func int(_ b: Book.TableColumns) -> SQLQueryExpression<Int> {
    let leaf = [bind(pick(9) - 4), b.stock + 0, b.id * 1, b.authorID - 1][pick(4)]
    return deeper(leaf) { maker in
      switch maker.pick(16) {
      case 0: maker.int(b) + maker.int(b)
      case 1: maker.int(b) - maker.int(b)
      case 2: maker.int(b) * 3
      case 3: maker.int(b) / maker.int(b).nullif(0).ifnull(1)
      case 4: maker.int(b) % 7
      case 5: (maker.int(b) & 6) | 1
      case 6: ~maker.int(b)
      case 7: -maker.int(b)
      case 8: maker.text(b).length().ifnull(0)
      case 9: maker.text(b).instr("a")
      case 10: b.rating ?? maker.int(b)
      case 11: iif(maker.bool(b), maker.int(b), maker.int(b))
      case 12: Case(maker.int(b)).when(1, then: 2).when(3, then: 4).else(maker.int(b))
      case 13: Case().when(maker.bool(b), then: maker.int(b)).else(0)
      case 14: maker.text(b).cast(as: Int.self)
      default: maker.int(b).sign().ifnull(0)
      }
    }
  }

  mutating func text(_ b: Book.TableColumns) -> SQLQueryExpression<String> {
    let texts = ["", "it's", "\"", "?", "%", "é"]
    let leaf = [bind(texts[pick(texts.count)]), b.title.trim(), b.kind.cast(as: String.self)][
      pick(3)]
    return deeper(leaf) { maker in
      switch maker.pick(11) {
      case 0: maker.text(b) + maker.text(b)
      case 1: maker.text(b).lower()
      case 2: maker.text(b).upper().collate(.nocase)
      case 3: maker.text(b).substr(maker.pick(4), 2)
      case 4: maker.text(b).replace("a", with: "b")
      case 5: maker.text(b).hex()
      case 6: maker.int(b).cast(as: String.self)
      case 7: b.publishedAt.strftime("%Y", "start of year").ifnull("-")
      case 8: concat(maker.text(b), maker.int(b))
      case 9: jsonObject(("x", maker.int(b)), ("y", maker.text(b)))
      default: sqlFunction("printf", bind("%d"), maker.int(b), as: String.self)
      }
    }
  }

  mutating func bool(_ b: Book.TableColumns) -> SQLQueryExpression<Bool> {
    let leaf = [b.isAvailable == true, b.stock > 1, b.rating == nil][pick(3)]
    return deeper(leaf) { maker in
      switch maker.pick(18) {
      case 0: maker.bool(b) && maker.bool(b)
      case 1: maker.bool(b) || maker.bool(b)
      case 2: !maker.bool(b)
      case 3: maker.int(b) < maker.int(b)
      case 4: maker.int(b).gte(3)
      case 5: maker.text(b) == maker.text(b)
      case 6: maker.text(b).neq("x")
      case 7: maker.int(b).in((0..<maker.pick(4)).map { $0 })
      case 8: maker.int(b).in(maker.ints())
      case 9: maker.int(b).between(maker.int(b), and: maker.int(b))
      case 10: maker.text(b).like("%a!_", escape: "!")
      case 11: maker.text(b).contains("100%")
      case 12: maker.text(b).glob("*[ab]?")
      case 13: b.rating.is(maker.chance(2) ? nil : 5)
      case 14: b.rating != 4
      case 15: maker.int(b).gt(maker.ints())
      case 16: Loan.where { $0.bookID == b.id }.exists()
      default: maker.text(b).notIn(["a", "b"])
      }
    }
  }

  /// A subquery with one column of integers.
  mutating func ints() -> Select<Int, InnerSide<Book>, ChosenColumns> {
    let other = Book.as("inner\(depth)")
    let isDeep = depth < 3
    depth += 1
    defer { depth -= 1 }
    var copy = self
    let query = other.select { isDeep ? copy.int($0) : bind(1) }.limit(chance(2) ? 1 : nil)
    random = copy.random
    return query
  }

  // MARK: Statements

  mutating func select() -> Select<RowTuple<Int, String, Bool>, InnerSide<Book>, ChosenColumns> {
    var maker = self
    var query = Book.where { book in
      if maker.chance(2) { maker.bool(book) }
      if maker.chance(3) { maker.bool(book) }
    }
    if maker.chance(4) { query = query.or(Book.where { maker.bool($0) }) }
    if maker.chance(6) { query = query.not() }
    if maker.chance(6) { query = query.find(1) }
    if maker.chance(6) { query = query.find([1, 2]) }
    var select = query.select { (maker.int($0), maker.text($0), maker.bool($0)) }
    if maker.chance(2) {
      select = select.order { (maker.int($0).desc(nulls: .last), maker.text($0)) }
    }
    if maker.chance(4) { select = select.distinct() }
    if maker.chance(3) { select = select.limit(maker.pick(4)) }
    if maker.chance(3) { select = select.offset(maker.pick(4)) }
    random = maker.random
    return select
  }

  mutating func statement() -> (String, SQLFragment) {
    var maker = self
    defer { random = maker.random }
    switch maker.pick(9) {
    case 0:
      let select = maker.select()
      return ("select", maker.chance(3) ? select.countQuery : select.query)
    case 1:
      let left = maker.select()
      let right = maker.select()
      let both =
        switch maker.pick(3) {
        case 0: left.union(all: maker.chance(2), right)
        case 1: left.intersect(right)
        default: left.except(right)
        }
      let ordered = maker.chance(2) ? both.order(byColumn: 1).limit(2) : both
      return ("compound", maker.chance(3) ? ordered.union(left).query : ordered.query)
    case 2:
      let grouped = Book.group { ($0.authorID, maker.int($0)) }
        .having { $0.count(filter: maker.bool($0)) > maker.pick(2) }
        .select {
          (
            $0.stock.sum(distinct: maker.chance(2), filter: maker.bool($0)), $0.rating.avg(),
            maker.text($0).groupConcat("; "), maker.int($0).max(), $0.id.jsonGroupArray()
          )
        }
      return ("group", grouped.query)
    case 3: return ("join", maker.join())
    case 4:
      return (
        "window",
        Book.select {
          (
            Window.rank().over(partitionBy: maker.int($0), orderBy: maker.text($0).desc()),
            maker.int($0).sum().over(
              orderBy: $0.id, frame: .rows(.preceding(maker.pick(3)), .unboundedFollowing)),
            Window.lead(maker.text($0), 2).over(orderBy: $0.id)
          )
        }.query
      )
    case 5:
      let update = Book.where { maker.bool($0) }.update { row in
        if maker.chance(2) { row.stock += maker.pick(3) }
        if maker.chance(2) { row.title.set(maker.text(Book.columns)) }
        if maker.chance(2) { row.rating = nil }
        if maker.chance(2) { row.isAvailable.toggle() }
        if maker.chance(2) { row.price = 2.5 }
      }
      return (
        "update", maker.chance(2) ? update.returning { ($0.id, $0.title) }.query : update.query
      )
    case 6:
      let delete = Book.where { maker.bool($0) }.delete()
      return ("delete", maker.chance(2) ? delete.returning(\.self).query : delete.query)
    case 7: return ("insert", maker.insert())
    default:
      let wanted = maker.pick(50)
      return (
        "with",
        With {
          Counter.counting
          AuthorStock.counting
        } query: {
          Book.where { $0.id.in(Counter.where { $0.value < wanted }.select { $0.value }) }
            .where { maker.bool($0) }.select { maker.int($0) }
        }.query
      )
    }
  }

  private mutating func join() -> SQLFragment {
    var maker = self
    defer { random = maker.random }
    let other = maker.chance(2) ? Author.all : Author.where { $0.name != "x" }
    let books = maker.chance(2) ? Book.all : Book.where { maker.bool($0) }
    switch maker.pick(5) {
    case 0: return books.join(other) { $0.authorID == $1.id }.order { $1.name }.query
    case 1:
      return books.leftJoin(other) { $0.authorID == $1.id && maker.bool($0) }
        .select { (maker.int($0), $1.name, $1.email ?? "none") }.query
    case 2:
      return books.rightJoin(other) { $0.authorID == $1.id }.where {
        $0.stock.is(nil)
        $1.id > 1
      }.query
    case 3: return books.fullJoin(other) { $0.authorID == $1.id }.countQuery
    default:
      return books.join(other) { $0.authorID == $1.id }.leftJoin(Loan.all) { book, _, loan in
        loan.bookID == book.id
      }
      .crossJoin(Person.as("someone")).limit(3).query
    }
  }

  private mutating func insert() -> SQLFragment {
    let draft = Author.Draft(name: "n\(pick(9))")
    let author = Author(id: pick(5), name: "?", email: chance(2) ? nil : "'")
    switch pick(7) {
    case 0: return Author.insert { draft }.query
    case 1: return Author.insert(or: chance(2) ? .replace : .ignore) { [author, author] }.query
    case 2: return Author.upsert { draft }.returning(\.id).query
    case 3:
      return Author.insert { author }.onConflict {
        $0.id
      } doUpdate: {
        $0.name = $1.name + $0.name
        $0.email = nil
      } where: {
        $0.id > $1.id
      }.query
    case 4: return Author.insert { author }.onConflictDoNothing().query
    case 5:
      return Author.insert {
        ($0.name, $0.email)
      } values: {
        ("a", nil)
        ("b", "c")
      }.query
    default:
      return Person.insert {
        ($0.id, $0.name)
      } select: {
        Author.select { ($0.id + 100, $0.name) }
      }.onConflictDoNothing { $0.id }.query
    }
  }
}

extension AuthorStock {
  static var counting: Select<AuthorStock, (InnerSide<Author>, InnerSide<Book>), ChosenColumns> {
    Author.join(Book.all) { $0.id == $1.authorID }.group { author, _ in author.id }
      .select { AuthorStock.Columns(name: $0.name, books: $1.id.count(), stock: $1.stock.sum()) }
  }
}
