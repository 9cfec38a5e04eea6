"""A workbook of two sheets."""

import pandas as pd

import datasets


class ExcelSheets(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"city": datasets.Value("string"), "trams": datasets.Value("int64")}))

    def _split_generators(self, dl_manager):
        path = dl_manager.download("trams.xlsx")
        return [datasets.SplitGenerator(name=sheet, gen_kwargs={"path": path, "sheet": sheet}) for sheet in ("north", "south")]

    def _generate_examples(self, path, sheet):
        with open(path, "rb") as f:
            frame = pd.read_excel(f, sheet_name=sheet, engine="openpyxl")
        for i, row in frame.iterrows():
            yield i, {"city": row["City"], "trams": row["Trams"]}
