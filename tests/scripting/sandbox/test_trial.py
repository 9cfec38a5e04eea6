"""Text run in the cage, as it is run outside."""

from datasets_core.scripting.sandbox.protocol import Channel, serve


class _Recorded(Channel):
    def __init__(self, *texts: str) -> None:
        super().__init__(-1, -1)
        self.texts, self.told = texts, []  # type: ignore[var-annotated]

    def requests(self):  # type: ignore[no-untyped-def]
        yield from ({"text": text} for text in self.texts)

    def reply(self, head, payload=None, last=True):  # type: ignore[no-untyped-def]
        self.told.append((dict(head), payload, last))

    def fail(self, error: BaseException) -> None:
        self.told.append(type(error).__name__)


def test_a_text_answers_with_its_result_or_its_error() -> None:
    channel = _Recorded("reply({'a': 1}, b'x'); result = 2", "1 / 0", "pass")
    serve(channel)
    assert channel.told == [
        ({"a": 1}, b"x", False), ({"result": 2}, None, True), "ZeroDivisionError", ({"result": None}, None, True),
    ]  # fmt: skip
