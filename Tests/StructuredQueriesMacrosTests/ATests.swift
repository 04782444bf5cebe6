import Testing
import SwiftSyntaxMacros
import SwiftParser
import SwiftSyntax
import StructuredQueriesMacros
@Test func x() { #expect(String(describing: TableMacro.self) == "TableMacro"); print(Parser.parse(source: "let x = 1").debugDescription) }
