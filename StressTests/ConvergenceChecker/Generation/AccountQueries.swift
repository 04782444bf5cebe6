import BoutiqueDB

/// The table that is there in every scenario, for queries by statement.
@Table("converge_account") struct Account: Sendable, Equatable {
  let id: Int
  var balance: Int
}

/// Queries of the query language, with the SQL that gives the same lines.
enum AccountQueries {
  struct Query: Sendable {
    let sql: String
    let observe: @Sendable (BoutiqueDB) -> QueryObservation<[Account]>
  }

  static let all = [
    Query(sql: "SELECT id, balance FROM converge_account ORDER BY id") { db in
      db.observe { Account.order(by: \.id) }
    },
    Query(sql: "SELECT id, balance FROM converge_account WHERE id = 3") { db in
      db.observe { Account.find(3) }
    },
    Query(sql: "SELECT id, balance FROM converge_account WHERE id IN (2, 5) ORDER BY id") { db in
      db.observe { Account.find([2, 5]).order(by: \.id) }
    },
    Query(sql: "SELECT id, balance FROM converge_account WHERE balance > 100 ORDER BY id") { db in
      db.observe { Account.where { $0.balance > 100 }.order(by: \.id) }
    },
  ]
}
