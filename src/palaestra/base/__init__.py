"""What every other room stands on: errors, texts, files, random streams, compiled code. Knows nothing above it."""
