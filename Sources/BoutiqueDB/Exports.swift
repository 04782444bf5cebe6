@_exported public import StructuredQueries
