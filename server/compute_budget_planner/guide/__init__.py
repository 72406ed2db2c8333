"""Reference pages turned into typed tables; knows nothing above it."""
