// StructuredQueries
