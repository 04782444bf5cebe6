/// What a store can keep.
public typealias StorableItem = Codable & Sendable
