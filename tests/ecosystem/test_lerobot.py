"""lerobot: datasets of episodes, written, read, joined and streamed on this disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("lerobot.datasets.lerobot_dataset")
torch = pytest.importorskip("torch")
datasets: Any = pytest.importorskip("datasets")

from lerobot.datasets.lerobot_dataset import LeRobotDataset  # type: ignore[import-not-found]  # noqa: E402

FEATURES = {
    "action": {"dtype": "float32", "shape": (2,), "names": ["x", "y"]},
    "grid": {"dtype": "float32", "shape": (2, 3), "names": None},
    "observation.image": {"dtype": "image", "shape": (8, 8, 3), "names": ["height", "width", "channels"]},
    "next.done": {"dtype": "bool", "shape": (1,), "names": None},
}


def written(root: Path, episodes: int = 3, frames: int = 4, **options: Any) -> Any:
    made = LeRobotDataset.create("someone/birds", fps=10, root=root, features=FEATURES, use_videos=False, **options)
    for episode in range(episodes):
        for frame in range(frames):
            made.add_frame(
                {
                    "action": np.array([episode, frame], "float32"),
                    "grid": np.full((2, 3), frame, "float32"),
                    "observation.image": np.full((8, 8, 3), episode * 10 + frame, "uint8"),
                    "next.done": np.array([frame == frames - 1]),
                    "task": f"task {episode % 2}",
                }
            )
        made.save_episode()
    made.finalize()
    return made


def test_episodes_are_written_and_read(tmp_path: Path) -> None:
    written(tmp_path / "a")
    read = LeRobotDataset("someone/birds", root=tmp_path / "a")
    assert (len(read), read.num_episodes) == (12, 3)
    assert isinstance(read.hf_dataset, datasets.Dataset)
    row = read[5]
    assert row["action"].tolist() == [1, 1]
    assert row["grid"].shape == (2, 3)
    assert row["observation.image"].shape == (3, 8, 8)
    assert round(float(row["observation.image"].mean()) * 255) == 11
    assert row["task"] == "task 1"
    assert isinstance(read.hf_features["observation.image"], datasets.Image)


def test_frames_around_a_frame(tmp_path: Path) -> None:
    written(tmp_path / "a")
    read = LeRobotDataset("someone/birds", root=tmp_path / "a", delta_timestamps={"action": [-0.1, 0.0, 0.1]})
    assert read[4]["action"].tolist() == [[1, 0], [1, 0], [1, 1]]
    assert read[4]["action_is_pad"].tolist() == [True, False, False]


def test_some_episodes(tmp_path: Path) -> None:
    written(tmp_path / "a")
    read = LeRobotDataset("someone/birds", root=tmp_path / "a", episodes=[0, 2])
    assert sorted({int(row["episode_index"]) for row in read}) == [0, 2]
    assert len(read) == 8


@pytest.mark.parametrize("workers", [0, 2])
def test_loader(tmp_path: Path, workers: int) -> None:
    written(tmp_path / "a")
    read = LeRobotDataset("someone/birds", root=tmp_path / "a")
    loader = torch.utils.data.DataLoader(read, batch_size=4, shuffle=True, num_workers=workers)
    assert sorted(int(index) for batch in loader for index in batch["index"]) == list(range(12))


def test_datasets_are_joined_and_divided(tmp_path: Path) -> None:
    from lerobot.datasets.dataset_tools import delete_episodes, merge_datasets  # type: ignore[import-not-found]

    parts = [written(tmp_path / name, episodes=2) for name in "ab"]
    parts = [LeRobotDataset("someone/birds", root=tmp_path / name) for name in "ab"]
    joined = merge_datasets(parts, output_repo_id="someone/all", output_dir=tmp_path / "all")
    assert (joined.num_episodes, len(joined)) == (4, 16)
    assert joined[15]["action"].tolist() == [1, 3]
    fewer = delete_episodes(joined, episode_indices=[0], output_dir=tmp_path / "fewer", repo_id="someone/fewer")
    assert (fewer.num_episodes, len(fewer)) == (3, 12)


def test_a_stream(tmp_path: Path) -> None:
    from lerobot.datasets.streaming_dataset import StreamingLeRobotDataset  # type: ignore[import-not-found]

    written(tmp_path / "a")
    for shards in (1, 2):
        stream = StreamingLeRobotDataset("someone/birds", root=tmp_path / "a", seed=3, buffer_size=4, max_num_shards=shards)
        assert sorted(int(row["index"]) for row in stream) == list(range(12))


def test_frames_of_films_are_a_feature_type(tmp_path: Path) -> None:
    from lerobot.datasets.video_utils import VideoFrame  # type: ignore[import-not-found]

    features = datasets.Features({"frame": VideoFrame()})
    rows = [{"frame": {"path": "episode_0.mp4", "timestamp": i / 2}} for i in range(3)]
    dataset = datasets.Dataset.from_list(rows, features=features)
    assert dataset[2] == rows[2]
    dataset.to_parquet(str(tmp_path / "a.parquet"))
    read = datasets.Dataset.from_parquet(str(tmp_path / "a.parquet"), cache_dir=str(tmp_path / "cache"))
    assert isinstance(read.features["frame"], VideoFrame)
    assert read[:] == dataset[:]
