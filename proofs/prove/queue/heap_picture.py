"""The heap of a model of Z3, drawn in plain text."""

from typing import Any

import z3


def heap_picture(model: z3.ModelRef) -> str:
    """The links before the call as the model has them, and the arguments."""
    meaning = {declaration.name(): declaration for declaration in model.decls()}
    names = {str(model[meaning[name]]): name for name in ("head", "tail", "none") if name in meaning}
    blocks = [element for sort in model.sorts() if sort.name() == "Block" for element in model.get_universe(sort) or ()]
    for element in blocks:
        names.setdefault(str(element), str(1 + sum(name.isdigit() for name in names.values())))

    def shown(function: str, argument: Any) -> str:
        value = model.eval(meaning[function](argument), model_completion=True)
        return names.get(str(value), str(value))

    lines = [
        f"{names[str(element)]}: " + ", ".join(f"{name} {shown(name, element)}" for name in _ABOUT if name in meaning)
        for element in blocks
        if names[str(element)] != "none"
    ]
    numbers = [
        f"{name} {names.get(str(model[meaning[name]]), model[meaning[name]])}" for name in _GIVEN if name in meaning
    ]
    items = _items(model, meaning, names)
    return "\n".join(["the heap before the call:", *lines, ", ".join([*numbers, *items])])


_ABOUT = ("inside", "place", "next", "prev")
_GIVEN = ("length", "number", "width", "given")


def _items(model: z3.ModelRef, meaning: dict[str, Any], names: dict[str, str]) -> list[str]:
    """The first items of the batch."""
    if "item" not in meaning or "width" not in meaning:
        return []
    width = min(model[meaning["width"]].as_long(), 4)
    values = [model.eval(meaning["item"](index), model_completion=True) for index in range(width)]
    return [f"batch {' '.join(names.get(str(value), str(value)) for value in values)}"]
