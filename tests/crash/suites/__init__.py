"""The fault suites of the reliability programme: one module per kind of fault, played small in CI and long by hand."""
