/// The namespace of what is not a model: ``Database``, ``Value``, ``Row``.
public enum Blackbird {}
