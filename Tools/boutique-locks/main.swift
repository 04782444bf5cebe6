// The program; see LockInspection for what it finds out.
