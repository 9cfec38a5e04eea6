from __future__ import annotations

from datasets_core.scripting.tensorflow_faces import FACES, UNLESS_INSTALLED


def test_what_depends_on_the_machine_is_a_face() -> None:
    assert {name.partition(".")[0] for name in FACES} >= UNLESS_INSTALLED
