"""Damage: bytes, texts, plain values and zip archives changed at random, each from one generator."""

import copy
import csv
import io
import json
import zipfile

import numpy as np

TOKENS = [
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b'"', b"'", b",", b";", b"\t", b"|", b" ", b"\\",
    b"nan", b"NaN", b"inf", b"-inf", b"-1", b"1e999", b"1e-999", b"1,5", b"1.234.567", b"0x1F", b"007",
    b"99999999999999999999",
    b"NULL", b"None", b"TRUE", b"yes", b"\xe4\xf6", b"\xc3\xa4", b"\xf0\x9f\x92\x80", b"2020-13-45", b"31/02/1999",
    b"=1+1",
    b"{", b"}", b"[", b"]", b"&a", b"*a", b"!!python/object:os.system", b"<<", b"---", b"#", b":", b"../../..",
    b"%s%n", b"A" * 3000,
]  # fmt: skip
VALUES = [
    None, True, False, 0, 1, -1, 2, 0.5, -0.0, 1e308, -1e308, 1e-320, float("nan"), float("inf"), -float("inf"),
    2**31, 2**63, -(2**63) - 1,
    2**200, "", " ", "x", "0", "1.5", "NaN", "inf", "x" * 2000, "\x00", "é💀", "../../etc/passwd", "__class__",
    "years", "Cox", "us_status",
    [], {}, [[]], [None], {"": None}, {"a": {"b": {}}}, [0] * 300, [[[[[[[[[]]]]]]]]],
]  # fmt: skip


def any_value(rng: np.random.Generator) -> object:
    return copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])


def mutate_bytes(rng: np.random.Generator, data: bytes, other: bytes = b"") -> bytes:
    """One to four changes: bits, bytes, slices cut out, repeated or moved, tokens, another file's end."""
    made = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        size = len(made)
        at = int(rng.integers(size + 1))
        length = int(rng.integers(1, max(2, min(64, size) + 1)))
        kind = int(rng.integers(9))
        if kind == 0 and size:
            made[min(at, size - 1)] ^= 1 << int(rng.integers(8))
        elif kind == 1 and size:
            made[min(at, size - 1)] = int(rng.integers(256))
        elif kind == 2:
            del made[at : at + length]
        elif kind == 3:
            made[at:at] = made[at : at + length] * int(rng.integers(1, 20))
        elif kind == 4:
            piece = bytes(made[at : at + length])
            del made[at : at + length]
            to = int(rng.integers(len(made) + 1))
            made[to:to] = piece
        elif kind == 5:
            token = TOKENS[int(rng.integers(len(TOKENS)))]
            made[at : at + int(rng.integers(0, 3))] = token
        elif kind == 6 and rng.random() < 0.3:
            del made[at:]
        elif kind == 7 and other:
            cut = int(rng.integers(len(other)))
            made[at:] = other[cut:]
        else:
            made[at : at + length] = rng.bytes(length)
    return bytes(made[:2_000_000])


def mutate_cells(rng: np.random.Generator, table: bytes) -> bytes:
    """A table between commas with some of its cells replaced, in one column or anywhere; the header rarely."""
    rows = list(csv.reader(io.StringIO(table.decode())))
    column = int(rng.integers(len(rows[0]))) if rng.random() < 0.5 else None
    odd = [token.decode("utf-8", "replace") for token in TOKENS if token not in (b"\x00",)]
    word = odd[int(rng.integers(len(odd)))] if rng.random() < 0.5 else None
    for _ in range(int(rng.integers(1, 40))):
        row = int(rng.integers(0 if rng.random() < 0.02 else 1, len(rows)))
        at = int(rng.integers(len(rows[row]))) if column is None else min(column, len(rows[row]) - 1)
        rows[row][at] = odd[int(rng.integers(len(odd)))] if word is None else word
    if rng.random() < 0.1:
        rows = rows[: int(rng.integers(1, len(rows)))]
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode()


def paths(value: object, here: tuple = ()) -> list[tuple]:
    """Where every value within a value stands."""
    found = [here]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += paths(inner, (*here, key))
    return found


def mutate_value(rng: np.random.Generator, value: object) -> object:
    """A plain value with one to three places replaced, left out, doubled or exchanged."""
    made = copy.deepcopy(value)
    for _ in range(int(rng.integers(1, 4))):
        places = paths(made)
        place = places[int(rng.integers(len(places)))]
        if not place:
            if rng.random() < 0.05:
                made = any_value(rng)
            continue
        holder = made
        for key in place[:-1]:
            holder = holder[key]
        key, kind = place[-1], int(rng.integers(5))
        if kind <= 1:
            holder[key] = any_value(rng)
        elif kind == 2:
            del holder[key]
        elif kind == 3 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        elif isinstance(holder, dict):
            holder[str(any_value(rng))[:40]] = holder.pop(key)
        else:
            holder[key] = copy.deepcopy(holder[int(rng.integers(len(holder)))])
    return made


def mutate_json(rng: np.random.Generator, text: bytes, other: bytes = b"") -> bytes:
    """JSON changed in its values (it stays JSON), or in its bytes."""
    if rng.random() < 0.3:
        return mutate_bytes(rng, text, other)
    return json.dumps(mutate_value(rng, json.loads(text)), indent=1).encode()


def mutate_array(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    kind = int(rng.integers(6))
    if kind == 0:
        return array[: int(rng.integers(len(array) + 1))] if array.ndim else array
    if kind == 1:
        return array.astype([np.float32, np.int64, bool, "U8", np.uint8][int(rng.integers(5))])
    if kind == 2:
        return np.stack([array, array])
    if kind == 3 and array.size:
        made = array.copy().ravel()
        made[int(rng.integers(made.size))] = {"f": np.nan, "i": -(2**40), "u": 255, "b": True}.get(made.dtype.kind, 0)
        return made.reshape(array.shape)
    if kind == 4:
        return array.ravel()[::-1]
    return np.concatenate([array, array]) if array.ndim else array


def mutate_npz(rng: np.random.Generator, data: bytes, other: bytes = b"") -> bytes:
    """An .npz changed in its bytes, or rewritten with an array changed, renamed or left out (its checksums fit)."""
    if rng.random() < 0.5:
        return mutate_bytes(rng, data, other)
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    name = list(arrays)[int(rng.integers(len(arrays)))]
    kind = int(rng.integers(5))
    if kind == 0:
        arrays.pop(name)
    elif kind == 1:
        arrays[f"{name}x"] = arrays.pop(name)
    elif name == "words":  # JSON within
        arrays[name] = np.frombuffer(mutate_json(rng, arrays[name].tobytes()), dtype=np.uint8)
    else:
        with np.errstate(all="ignore"):
            try:
                arrays[name] = mutate_array(rng, arrays[name])
            except ValueError:
                arrays.pop(name)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def mutate_zip(rng: np.random.Generator, data: bytes, other: bytes = b"") -> bytes:
    """A zip archive (xlsx, csv.zip) changed in its bytes, or rewritten with one member changed."""
    if rng.random() < 0.5:
        return mutate_bytes(rng, data, other)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = list(members)[int(rng.integers(len(members)))]
    members[name] = mutate_bytes(rng, members[name])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for each, content in members.items():
            archive.writestr(each, content)
    return buffer.getvalue()
