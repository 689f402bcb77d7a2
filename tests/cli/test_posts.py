"""What a worker process tells its supervisor: whole lines, on a wire of their own."""

from __future__ import annotations

from holdfast.cli.posts import Drained, Farewell, PlanFailed, Ready, Word, line_of, words_in


def test_words_come_as_they_were_said() -> None:
    said: list[Word] = [Ready(), PlanFailed('no such file\n"x"'), Drained(), Farewell(how="interrupted", not_saved=2)]
    assert words_in(b"".join(map(line_of, said))) == (said, b"")


def test_half_of_a_line_is_no_word_yet() -> None:
    whole = line_of(Ready()) + line_of(Drained())
    words, begun = words_in(whole[:-1])
    assert words == [Ready()]
    assert words_in(begun + whole[-1:]) == ([Drained()], b"")
