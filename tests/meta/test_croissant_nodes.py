"""Nodes of a description: which record sets are configs, which fields are columns."""

from datasets_core.meta.croissant_nodes import CroissantDocument, FieldNode, RecordSetNode


def test_record_sets_with_rows_are_the_main_ones() -> None:
    sets = (
        RecordSetNode("splits", "splits", data_types=("Split",), data=({"name": "train"},)),
        RecordSetNode("classes", "classes", data_types=("Enumeration",)),
        RecordSetNode("rows", "rows"),
    )
    document = CroissantDocument("a.json", record_sets={each.id: each for each in sets})
    assert [each.id for each in document.main_record_sets()] == ["rows"]


def test_where_there_are_no_others_all_are() -> None:
    document = CroissantDocument("a.json", record_sets={"e": RecordSetNode("e", "e", data=({},))})
    assert [each.id for each in document.main_record_sets()] == ["e"]


def test_leaves_are_the_fields_without_others_inside() -> None:
    inner = FieldNode("a/b", "b", sub_fields=(FieldNode("a/b/c", "c"), FieldNode("a/b/d", "d")))
    assert [leaf.id for leaf in FieldNode("a", "a", sub_fields=(inner,)).leaves()] == ["a/b/c", "a/b/d"]
