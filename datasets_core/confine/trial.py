"""Text run in the cage: how `datasets-core doctor` and the tests try whether it holds."""

from __future__ import annotations

from typing import Any

from datasets_core.confine.pipe import Channel


def serve(channel: Channel) -> None:
    """Run the text of each request, and answer with what it leaves under the name `result`.

    A text may call `reply(head, payload)`, any number of times, and `question(head)`.
    """
    for request in channel.requests():
        names: dict[str, Any] = {
            "result": None,
            "question": channel.question,
            "reply": lambda head, payload=None: channel.reply(head, payload, last=False),
        }
        try:
            exec(compile(request["text"], request.get("path", "<trial>"), "exec"), names)
        except Exception as error:
            channel.fail(error)
        else:
            channel.reply({"result": names["result"]})
