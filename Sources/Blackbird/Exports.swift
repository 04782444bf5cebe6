// What a program that imports Blackbird alone needs of the engine: the type of `configuration:` and of errors. Not
// the whole module: its query builder has operators and names of its own.
@_exported public import struct BoutiqueDB.BoutiqueCollation
@_exported public import struct BoutiqueDB.BoutiqueConfiguration
@_exported public import enum BoutiqueDB.BoutiqueError
@_exported public import enum BoutiqueDB.BoutiqueEvent
@_exported public import struct BoutiqueDB.BoutiqueFunction
