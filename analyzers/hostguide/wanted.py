"""Which functions launch, or name one that may: what the texts show before anything is run.

Takes blanked texts and where functions stand in them; gives the functions, where their names stand, and who names
whom. Macros are followed like functions, and names that are spelled in parts count as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from analyzers.hostguide.asked import Asked
from analyzers.hostguide.declared import FoundFunction, called_as, on_device
from analyzers.hostguide.disguises import joined_words, labels, may_give, pastes, spliced_words
from analyzers.hostguide.left_out import LAUNCH_TEXT
from analyzers.hostguide.macros import Macros
from analyzers.hostguide.source import SourceTexts

_ARGUMENTS = re.compile(rb"\s*(?:<(?:[^<>;{}()]|<(?:[^<>;{}()]|<[^<>;{}()]*>)*>)*>)?\s*")
Spot = tuple[str, int]
"""A file, and the offset of the name of a function that it declares."""


@dataclass(slots=True)
class Wanted:
    """What leads to launches by what the texts say."""

    functions: list[FoundFunction] = field(default_factory=list[FoundFunction])
    mentions: dict[str, list[tuple[str, int]]] = field(default_factory=dict[str, list[tuple[str, int]]])
    """By name of a function or macro that leads to launches, the files and offsets where it stands."""
    outside: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """By file, where launches and such names stand that are in no function: in what initialises variables."""
    launching: set[Spot] = field(default_factory=set[Spot])
    """The functions that hold a launch, use a macro that does, or spell a name in some other way than by itself."""
    named: dict[Spot | str, set[str]] = field(default_factory=dict[Spot | str, set[str]])
    """By function, or by name of a macro, the other names that stand in it."""


class Search:
    """For launches, and for the names of what leads to them."""

    def __init__(
        self,
        texts: Mapping[str, bytes],
        sources: SourceTexts,
        macros: Macros,
        around: Callable[[str, int], FoundFunction | None],
        asked: Asked,
        functions: Iterable[FoundFunction],
    ) -> None:
        """``around``: the innermost function whose text holds an offset."""
        self._texts = texts
        self._sources = sources
        self._macros = macros
        self._around = around
        self._asked = asked
        self._declared = {(f.path, f.named_at) for f in functions}
        self._joins: bool | None = None

    def run(self, main: str) -> Wanted:
        """``main``: the path of the file whose functions come first."""
        wanted = Wanted()
        functions: dict[int, FoundFunction] = {}
        of_macros = self._macros.by_name().keys()
        launching_macros: set[str] = set()
        names: set[str] = set()
        new: set[str] = set()

        def add(path: str, offset: int, name: str | None) -> None:
            """``name``: of the function or macro whose plain name stands there."""
            plain = name is not None and name not in launching_macros
            macro = self._macros.at(path, offset)
            if macro is not None:
                if plain and name is not None:
                    wanted.named.setdefault(macro, set()).add(name)
                elif macro not in launching_macros:
                    launching_macros.add(macro)
                    new.add(macro)
                if macro not in names:
                    new.add(macro)
                return
            found = self._around(path, offset)
            if found is None:
                wanted.outside.setdefault(path, []).append(offset)
                return
            spot = (found.path, found.named_at)
            if not plain or name is None:
                wanted.launching.add(spot)
            elif name in of_macros or not self._means_none(path, offset, name):
                wanted.named.setdefault(spot, set()).add(name)
            if found.defined and id(found) not in functions and not on_device(found):
                functions[id(found)] = found
                if called_as(found) not in names:
                    new.add(called_as(found))

        for path, text in self._texts.items():
            for match in LAUNCH_TEXT.finditer(text):
                if not self._asked.leaves_out(text, match.start()):
                    add(path, match.start(), None)
        while new:
            looked_for = new - names
            again = new & names
            names |= new
            new.clear()
            for name in sorted(again):  # known before, and known to launch only now
                for path, at in wanted.mentions.get(name, ()):
                    add(path, at, name)
            if not looked_for:
                continue
            words = rb"|".join(re.escape(n.encode()) for n in sorted(looked_for))
            pattern = re.compile(rb"\b(?:" + words + rb")\b")
            for path, text in self._texts.items():
                for match in pattern.finditer(text):
                    name = match.group().decode()
                    wanted.mentions.setdefault(name, []).append((path, match.start()))
                    add(path, match.start(), name)
                for name, start in self._disguised(path, text, names):
                    wanted.mentions.setdefault(name, []).append((path, start))
                    add(path, start, None)
        wanted.functions = sorted(functions.values(), key=lambda f: (f.path != main, f.path, f.start))
        return wanted

    def _means_none(self, path: str, offset: int, name: str) -> bool:
        """Whether a name stands where it is declared, or where it can only be that of a class, no object of which is
        made: what has the name there is not called."""
        text = self._texts[path]
        if (path, offset) in self._declared or (
            text[offset - 1 : offset] == b"~" and (path, offset - 1) in self._declared
        ):
            return True
        behind = _ARGUMENTS.match(text, offset + len(name))
        return name != "operator" and behind is not None and text.startswith((b"::", b"&", b"*"), behind.end())

    def _disguised(self, path: str, text: bytes, names: set[str]) -> Iterator[tuple[str, int]]:
        """Names that a text spells in no way a search for words finds, and where."""
        yield from ((name, at) for label, at in labels(self._sources.text(path)) if (name := label.decode()) in names)
        if b"\\\n" in text or b"\\\r" in text:
            yield from ((name, at) for name, at in spliced_words(text) if name in names)
        if b"##" in text:
            for paste in pastes(text):
                yield from ((name, paste.offset) for name in sorted(names) if may_give(name, paste.before, paste.after))
        if self._pastes_arguments():
            yield from ((name, at) for name, at in joined_words(text) if name in names)

    def _pastes_arguments(self) -> bool:
        """Whether some macro makes names of nothing but its arguments."""
        if self._joins is None:
            texts = (text for text in self._texts.values() if b"##" in text)
            self._joins = any(not paste.before and not paste.after for text in texts for paste in pastes(text))
        return self._joins
