"""What Tessera costs a program, and single calls of it."""
