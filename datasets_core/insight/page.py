"""The frame of what notebooks show, and the kind of a column in a word or two."""

from __future__ import annotations

from html import escape

from datasets_core.features.base import Feature, FeatureType, LargeList, List, Value
from datasets_core.features.labels import ClassLabel

# Colours of the page itself, made fainter: so a table is legible on light and on dark.
_STYLE = """<style>
.dsc{font:13px/1.45 system-ui,sans-serif;max-width:100%;overflow-x:auto;color:inherit}
.dsc .about{opacity:.75;margin:4px 2px 8px}
.dsc table{border-collapse:collapse;border:0;margin:0;font-size:13px}
.dsc th,.dsc td{text-align:left!important;vertical-align:top;padding:6px 12px;border:0;
border-bottom:1px solid rgba(128,128,128,.25);background:none;max-width:28em;
overflow-wrap:break-word;font-weight:400;color:inherit}
.dsc thead th{font-weight:600;border-bottom:2px solid rgba(128,128,128,.5);white-space:nowrap}
.dsc thead small{display:block;font-weight:400;opacity:.6;white-space:normal}
.dsc tbody tr:hover{background:rgba(128,128,128,.09)}
.dsc td.number,.dsc .label{white-space:nowrap}
.dsc td.number{text-align:right!important;font-variant-numeric:tabular-nums}
.dsc .row{opacity:.5;text-align:right!important}
.dsc .none,.dsc .note{opacity:.55;font-style:italic}
.dsc code{font:12px/1.4 ui-monospace,monospace;background:none;color:inherit;padding:0;white-space:pre-wrap}
.dsc .label{display:inline-block;padding:0 8px;border-radius:9px;background:rgba(64,128,255,.18)}
.dsc img{display:block;max-width:160px;max-height:160px;border-radius:4px;margin:0}
.dsc audio{display:block;width:230px;height:36px}
.dsc .bars{display:inline-flex;align-items:flex-end;height:24px;gap:1px}
.dsc .bars i{width:9px;background:rgb(70,130,235)}
.dsc h4{margin:14px 2px 2px;font-size:14px}
</style>"""


_CONTROLS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)])  # they mean nothing in a page, and much to a terminal


def framed(title: str, inner: str) -> str:
    """Markup in the frame that all views share; the title is text."""
    return f'{_STYLE}<div class="dsc"><div class="about">{escape(title)}</div>{inner}</div>'.translate(_CONTROLS)


def kind_of_feature(feature: FeatureType) -> str:
    """A feature in a word or two.

    >>> kind_of_feature(List(Value("int8"))), kind_of_feature({"a": Value("int8")})
    ('list of int8', 'dict of 1')
    """
    if isinstance(feature, dict):
        return f"dict of {len(feature)}"
    if isinstance(feature, Value):
        return feature.dtype
    if isinstance(feature, ClassLabel):
        return f"label of {feature.num_classes}"
    if isinstance(feature, (List, LargeList)):
        return f"list of {kind_of_feature(feature.feature)}"
    assert isinstance(feature, Feature)
    shape = getattr(feature, "shape", None)
    return (
        feature._type if shape is None else f"{feature._type} {'×'.join('?' if size is None else str(size) for size in shape)}"
    )
