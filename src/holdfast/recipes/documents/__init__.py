"""The documents job: a list names files, each is fetched once and kept. These modules are pure and know no engine."""
