/// What a statement does beyond reading, as SQLite's authorizer told it at compilation.
package struct StatementEffects: Sendable, Equatable {
  /// A statement that begins or ends a transaction.
  package enum TransactionControl: Sendable, Equatable {
    /// `BEGIN`
    case begin
    /// `COMMIT` or `END`
    case commit
    /// `ROLLBACK`
    case rollback
  }

  /// A statement about a savepoint.
  package struct SavepointControl: Sendable, Equatable {
    /// What is done with the savepoint.
    package enum Operation: Sendable, Equatable {
      /// `SAVEPOINT`
      case begin
      /// `RELEASE`
      case release
      /// `ROLLBACK TO`
      case rollback
    }
    /// What is done with it.
    package var operation: Operation
    /// Its name.
    package var name: String

    /// Describes the use of a savepoint.
    package init(operation: Operation, name: String) {
      self.operation = operation
      self.name = name
    }
  }

  /// One change of the schema.
  package struct SchemaChange: Sendable, Equatable {
    /// What is changed.
    package enum Kind: Sendable, Equatable {
      /// An object is created.
      case createTable, createIndex, createTrigger, createView, createVirtualTable
      /// An object is dropped.
      case dropTable, dropIndex, dropTrigger, dropView, dropVirtualTable
      /// A table is altered or renamed.
      case alterTable
      /// An index is built anew, or statistics are gathered: the content of the schema stays.
      case reindex, analyze
    }
    /// What is changed.
    package var kind: Kind
    /// The table, index, trigger or view.
    package var objectName: String
    /// The table concerned: of an index or trigger its table, of a table itself.
    package var tableName: String?
    /// The database that holds it: `main`, `temp`, or an attached one.
    package var databaseName: String

    /// Describes a change of the schema.
    package init(kind: Kind, objectName: String, tableName: String?, databaseName: String) {
      self.kind = kind
      self.objectName = objectName
      self.tableName = tableName
      self.databaseName = databaseName
    }
  }

  /// A `PRAGMA` with its argument.
  package struct PragmaUse: Sendable, Equatable {
    /// The name, in lower case.
    package var name: String
    /// The argument as written, without quotes.
    package var argument: String?

    /// Describes the use of a pragma.
    package init(name: String, argument: String? = nil) {
      self.name = name
      self.argument = argument
    }
  }

  /// Set for `BEGIN`, `COMMIT`, `ROLLBACK`.
  package internal(set) var transactionControl: TransactionControl?
  /// Set for `SAVEPOINT`, `RELEASE`, `ROLLBACK TO`.
  package internal(set) var savepoint: SavepointControl?
  /// What the statement changes in the schema.
  package internal(set) var schemaChanges: [SchemaChange] = []
  /// Set for `PRAGMA`.
  package internal(set) var pragma: PragmaUse?
  /// The file named by `ATTACH`; empty when it is an expression.
  package internal(set) var attachedFile: String?
  /// The database named by `DETACH`; empty when it is an expression.
  package internal(set) var detachedDatabase: String?
  /// Whether this is a `VACUUM`, with or without `INTO`.
  package internal(set) var isVacuum = false
  /// Tables that rows are inserted into, updated or deleted in, named as in `ReadSet`.
  ///
  /// Triggers and foreign key actions count; the schema tables do not.
  package internal(set) var writtenTables: Set<String> = []

  /// Whether the statement only reads and writes rows.
  ///
  /// False for transaction control, schema changes, pragmas, `ATTACH`, `DETACH` and `VACUUM`.
  package internal(set) var isPlain = true

  /// Makes the effects of a statement that does nothing but read.
  package init() {}
}
