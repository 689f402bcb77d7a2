"""What a worker process tells its supervisor: whole lines, on a pipe of their own."""

from __future__ import annotations

from holdfast.dispatch.local.messages import Drained, FinalReport, Message, PlanRaised, Ready, line_of, messages_in


def test_words_come_as_they_were_said() -> None:
    said: list[Message] = [
        Ready(),
        PlanRaised('no such file\n"x"'),
        Drained(),
        FinalReport(how="interrupted", not_saved=2),
    ]
    assert messages_in(b"".join(map(line_of, said))) == (said, b"")


def test_half_of_a_line_is_no_word_yet() -> None:
    whole = line_of(Ready()) + line_of(Drained())
    messages, begun = messages_in(whole[:-1])
    assert messages == [Ready()]
    assert messages_in(begun + whole[-1:]) == ([Drained()], b"")
