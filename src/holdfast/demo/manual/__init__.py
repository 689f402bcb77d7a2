"""The `manual` world: the handbook of an invented sensor kit."""

from holdfast.demo.manual.world import Manual, write_manual

__all__ = ["Manual", "write_manual"]
