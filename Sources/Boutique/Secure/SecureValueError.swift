/// What can go wrong with a secure value.
public enum SecureValueError: Error {}
