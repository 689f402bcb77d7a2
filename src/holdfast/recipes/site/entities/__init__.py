"""Entities of a page by deterministic rules: eleven types, each with value, passage, source and confidence (SIT-06)."""
