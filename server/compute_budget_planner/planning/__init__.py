"""Smoke test, limits and envelope: pure functions of estimates."""
