"""LightGBM trusts the text of a model it reads: this looks at it first."""

from __future__ import annotations


def check_booster_text(text: str) -> None:
    """Refuse a LightGBM text that would crash it or send it round in circles."""
    head, *trees = text.split("\nTree=")
    stated = dict(line.partition("=")[::2] for line in head.splitlines() if "=" in line)
    try:
        features = int(stated["max_feature_idx"])
        sizes = [int(size) for size in stated["tree_sizes"].split()]
        blocks = [f"Tree={tree}" for tree in trees]
        if blocks:
            blocks[-1] = blocks[-1].partition("end of trees")[0]
        if len(sizes) != len(blocks):
            raise ValueError(f"a booster says it has {len(sizes)} trees and has {len(blocks)}")
        for size, block in zip(sizes, blocks, strict=True):
            if abs(len(block.encode()) + 1 - size) > 1:
                raise ValueError("a tree of a booster is longer or shorter than stated")
            _check_tree(dict(line.partition("=")[::2] for line in block.splitlines() if "=" in line), features)
    except (KeyError, ValueError) as error:
        raise ValueError(f"a booster is not as LightGBM writes it: {error}") from None


def _check_tree(tree: dict[str, str], features: int) -> None:
    leaves = int(tree["num_leaves"])
    if leaves < 1 or len(tree["leaf_value"].split()) != leaves:
        raise ValueError("leaves")
    if leaves == 1:
        return
    for name in ("split_feature", "threshold", "decision_type", "left_child", "right_child"):
        if len(tree[name].split()) != leaves - 1:
            raise ValueError(name)
    if int(tree.get("num_cat", "0")):
        raise ValueError("num_cat: we train on numbers only")
    if any(not 0 <= int(feature) <= features for feature in tree["split_feature"].split()):
        raise ValueError("split_feature")
    for name in ("left_child", "right_child"):
        for node, child in enumerate(map(int, tree[name].split())):  # a leaf, or a node further down: no way back
            if not (-leaves <= child < 0 or node < child < leaves - 1):
                raise ValueError(name)
