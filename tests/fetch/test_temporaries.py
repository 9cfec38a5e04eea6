"""Unfinished files: dead ones go, living ones stay."""

from __future__ import annotations

import os


def test_litter_of_dead_owners_goes_and_that_of_living_ones_stays(site, manager, faults, cache_dir):
    cache_dir.mkdir(parents=True)
    for name, pid in (("dead", 2**22 + 1), ("living", os.getpid())):
        (cache_dir / f"{name}.part").write_bytes(b"x")
        (cache_dir / f"{name}.part.json").write_text(f'{{"pid": {pid}, "host": "{os.uname().nodename}"}}')
    (cache_dir / "young.part").write_bytes(b"x")
    (cache_dir / "dead.part.plain").write_bytes(b"x")
    for name in ("dead.part", "living.part", "dead.part.json", "living.part.json"):
        os.utime(cache_dir / name, (0, 0))
    site.pages["/a"] = faults.page(b"a")
    manager.download(site.at("/a"))
    assert sorted(name for name in os.listdir(cache_dir) if ".part" in name) == [
        "living.part",
        "living.part.json",
        "young.part",
    ]
