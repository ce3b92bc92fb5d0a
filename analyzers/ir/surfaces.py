"""Cells of surfaces: memory that kernels reach through handles, and not through pointers.

The pointer to a row of one is ``call`` of ``surface_row`` with the handle (U64), the row and the layer, slice or face
(I64 each); bytes along the row are its offset. Two handles that are not the same value are taken for two surfaces, as
two pointer parameters are for two objects: an assumption, listed.
"""

from __future__ import annotations

from analyzers.ir import expr as E
from analyzers.ir.expr import PTR, Expr

SURFACE_ROW = "surface_row"
SURFACES = "%surfaces"
"""Stands for all surfaces where objects are named."""
DISTINCT = "different surface objects are bound to different arrays"


def surface_row(handle: Expr, row: Expr, layer: Expr) -> Expr:
    return E.call(SURFACE_ROW, PTR, handle, row, layer)


def is_surface(e: Expr) -> bool:
    return e.op == "call" and e.value == SURFACE_ROW
