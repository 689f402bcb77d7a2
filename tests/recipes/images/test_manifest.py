"""Names of folders that are made of keywords (IMG-08)."""

from __future__ import annotations

from holdfast.recipes.images.manifest import folder_of


def test_folders_are_names_that_every_file_system_takes():
    assert folder_of("red panda") == "red panda"
    assert folder_of("../etc/passwd\0") == "_etc_passwd_"
    assert folder_of("..") == folder_of("") == "_"
    for letter in ("x", "é", "猫", "🐈"):  # 1 to 4 bytes, and a name has 255 at most
        name = folder_of(letter * 200)
        assert (set(name), len(name.encode())) == ({letter}, 80 - 80 % len(letter.encode()))
