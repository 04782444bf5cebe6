// What a program that imports Boutique alone needs of the engine: a database to give to a storage, and the errors of
// one. Not the whole module: its query builder has operators and names of its own.
@_exported public import struct BoutiqueDB.BoutiqueConfiguration
@_exported public import class BoutiqueDB.BoutiqueDB
@_exported public import enum BoutiqueDB.BoutiqueError
@_exported public import enum BoutiqueDB.ChangeOrigin
