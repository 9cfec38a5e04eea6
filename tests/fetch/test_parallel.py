"""Several files at the same time."""

from __future__ import annotations

import pytest

from datasets_core.errors import ConfigurationError, DownloadError

BODY = bytes(range(256)) * 4000


def test_the_first_failure_of_many_is_raised_and_names_its_url(site, manager, faults):
    site.pages.update({f"/{number}": faults.page(BODY) for number in range(20)})
    site.pages["/7"].faults.append(faults.answering(403))
    with pytest.raises(DownloadError, match="/7: the server answers 403"):
        manager.download([site.at(f"/{number}") for number in range(20)])


@pytest.mark.parametrize("count", [0, -1])
def test_no_threads_is_an_error(manager, tmp_path, count):
    (tmp_path / "a").write_text("a")
    manager.download_config.num_proc = count
    with pytest.raises(ConfigurationError, match="num_proc"):
        manager.download("a")
