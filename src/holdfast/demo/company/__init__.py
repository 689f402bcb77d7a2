"""The `company` world: the website of an invented firm, with everything that goes wrong on real ones."""
