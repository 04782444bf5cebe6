// SharedFileCoordination
