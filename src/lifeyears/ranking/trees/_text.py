"""Check the text of a saved booster before LightGBM, which trusts its input, reads it."""

from __future__ import annotations

import re

from ...errors import ModelFileError

_WHOLE = re.compile(r"-?[0-9]{1,10}")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*(e[-+]?[0-9]{1,3})?|inf|nan)")
_HEAD = {
    "version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx", "objective", "feature_names",
    "feature_infos", "tree_sizes",
}  # fmt: skip
# What the lists of a tree hold: one value per split, or one per leaf
_SPLITS = {
    **dict.fromkeys(("split_feature", "decision_type", "left_child", "right_child", "internal_count"), _WHOLE),
    **dict.fromkeys(("split_gain", "threshold", "internal_value", "internal_weight"), _NUMBER),
}
_LEAVES = {"leaf_value": _NUMBER, "leaf_weight": _NUMBER, "leaf_count": _WHOLE}
_SINGLE = {"num_leaves": _WHOLE, "num_cat": _WHOLE, "is_linear": _WHOLE, "shrinkage": _NUMBER}
_END = (
    "end of trees\n\nfeature_importances:\n\nparameters:\n[boosting: gbdt]\n\nend of parameters\n\n"
    "pandas_categorical:null\n"
)


def check_booster_text(text: str) -> str:
    """Refuse the text of a booster that would crash LightGBM or make it loop forever; return the part that it needs.

    LightGBM reads trees on several threads, where a malformed number ends the process: every value is therefore
    checked, and whatever our trees never contain (categories, linear leaves, several classes) is refused. The text
    after the trees (training parameters, which can crash LightGBM too) is not needed for predictions and left out.

    Raises
    ------
    ModelFileError
        If the text is not as LightGBM writes it.
    """
    head, *trees = text.split("\nTree=")
    try:
        stated = _parse_lines(head.removeprefix("tree\n"), _HEAD)
        features = int(stated["max_feature_idx"])
        sizes = [int(size) for size in stated["tree_sizes"].split()]
        if (stated["num_class"], stated["num_tree_per_iteration"]) != ("1", "1"):
            raise ValueError("more than one class")
        for name in ("feature_names", "feature_infos"):
            if len(stated[name].split()) != features + 1:
                raise ValueError(name)
        blocks = [f"Tree={tree}" for tree in trees]
        if blocks:
            blocks[-1] = blocks[-1].partition("end of trees")[0]
        if len(sizes) != len(blocks):
            raise ValueError(f"a booster says it has {len(sizes)} trees and has {len(blocks)}")
        for number, (size, block) in enumerate(zip(sizes, blocks, strict=True)):
            if abs(len(block.encode()) + 1 - size) > 1:
                raise ValueError("a tree of a booster is longer or shorter than stated")
            first, _, rest = block.partition("\n")
            if first != f"Tree={number}":
                raise ValueError(f"{first[:40]} in the place of tree {number}")
            _check_tree(_parse_lines(rest, {*_SPLITS, *_LEAVES, *_SINGLE}), features)
    except (KeyError, ValueError) as error:
        raise ModelFileError(f"a booster is not as LightGBM writes it: {error}") from None
    return text.partition("end of trees")[0] + _END


def _parse_lines(block: str, known: set[str]) -> dict[str, str]:
    """Read lines of name=values, each name known and present once."""
    entries: dict[str, str] = {}
    for line in block.split("\n"):
        if not line:
            continue
        name, _, values = line.partition("=")
        if name not in known or name in entries:
            raise ValueError(f"the line {line[:40]!r}")
        entries[name] = values
    return entries


def _check_tree(tree: dict[str, str], features: int) -> None:
    for name, form in _SINGLE.items():
        if name in tree and not form.fullmatch(tree[name]):
            raise ValueError(name)
    leaves = int(tree["num_leaves"])
    if leaves < 1 or int(tree["num_cat"]) or int(tree.get("is_linear", "0")):
        raise ValueError("num_leaves, num_cat or is_linear: we train on numbers, with plain leaves")
    for lists, count in ((_SPLITS, leaves - 1), (_LEAVES, leaves)):
        for name, form in lists.items():
            values = tree.get(name, "").split(" ") if tree.get(name) else []
            optional = leaves == 1 and name != "leaf_value"
            if len(values) != count and not (optional and not values):
                raise ValueError(name)
            if not all(form.fullmatch(value) for value in values):
                raise ValueError(f"{name} has a value that is not a number")
    if leaves == 1:
        return
    if any(not 0 <= int(feature) <= features for feature in tree["split_feature"].split()):
        raise ValueError("split_feature")
    if any(int(kind) & 1 or not 0 <= int(kind) < 16 for kind in tree["decision_type"].split()):
        raise ValueError("decision_type: a split by categories")
    for name in ("left_child", "right_child"):
        for node, child in enumerate(map(int, tree[name].split())):  # a leaf, or a node further down: no way back
            if not (-leaves <= child < 0 or node < child < leaves - 1):
                raise ValueError(name)
