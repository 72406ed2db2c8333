"""Render a budget and edit it in place; the only code that knows headings and columns."""
