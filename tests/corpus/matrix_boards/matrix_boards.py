"""Boards of a game as arrays."""

import numpy as np

import datasets


class MatrixBoards(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "board": datasets.Array2D(shape=(3, 3), dtype="int32"),
                    "listed": datasets.Array2D(shape=(3, 3), dtype="int8"),
                    "cube": datasets.Array3D((2, 2, 2), "float32"),
                    "rows": datasets.features.Array2D(dtype="int64", shape=(None, 2)),
                    "flat": datasets.Sequence(datasets.Value("float64")),
                    "nested": datasets.Sequence(datasets.Sequence(datasets.Value("int64"))),
                }
            )
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="games", gen_kwargs={"path": dl_manager.download("boards.npz")})]

    def _generate_examples(self, path):
        boards = np.load(path)
        for i, board in enumerate(boards["boards"]):
            cube = np.arange(8, dtype=np.float32).reshape(2, 2, 2) + i
            yield i, {
                "board": board,
                "listed": board.tolist(),
                "cube": cube,
                "rows": np.ones((i + 1, 2), dtype=np.int64) * i,
                "flat": board.astype("float64").ravel(),
                "nested": board[: i + 1],
            }
