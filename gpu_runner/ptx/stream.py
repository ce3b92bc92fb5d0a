"""A cursor over the tokens of a PTX text, and the pieces of grammar that declarations and instructions share."""

from __future__ import annotations

import struct

from gpu_runner.ptx import model
from gpu_runner.ptx.lexer import PtxSyntaxError, tokens


class Stream:
    """Tokens, one after the other. `expect` and the readers raise `PtxSyntaxError` with the line."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._tokens[self._at].kind == "end"

    @property
    def line(self) -> int:
        return self._tokens[self._at].line

    def kind(self) -> str:
        """Kind of the next token."""
        return self._tokens[self._at].kind

    def peek(self, ahead: int = 0) -> str:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)].text

    def next(self) -> str:
        token = self._tokens[self._at]
        if token.kind == "end":
            raise PtxSyntaxError(f"line {token.line}: unexpected end of the text")
        self._at += 1
        return token.text

    def accept(self, text: str) -> bool:
        if self._tokens[self._at].text != text:
            return False
        self._at += 1
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(f"expected {text!r}")

    def error(self, what: str) -> PtxSyntaxError:
        return PtxSyntaxError(f"line {self.line}: {what} before {self.peek()!r}")

    def separated(self) -> list[str]:
        """Names separated by commas, at least one."""
        names = [self.next()]
        while self.accept(","):
            names.append(self.next())
        return names

    def string(self) -> str:
        if self.kind() != "string":
            raise self.error("expected a string")
        return self.next()[1:-1]

    def pragma(self) -> model.Pragma:
        self.expect(".pragma")
        texts = [self.string()]
        while self.accept(","):
            texts.append(self.string())
        self.expect(";")
        return model.Pragma(tuple(texts))

    def integer(self) -> int:
        """An integer constant with its sign."""
        negative = self.accept("-")
        if self.kind() != "number":
            raise self.error("expected an integer")
        text = self.next().rstrip("U")
        octal = len(text) > 1 and text[0] == "0" and text.isdecimal()
        value = int(text, 8) if octal else int(text, 0)
        return -value if negative else value

    def float(self) -> model.Float:
        """A floating-point constant with its sign."""
        negative = self.accept("-")
        text = self.next()
        if text[:2] in ("0f", "0F"):
            bits, width = int(f"0x{text[2:]}", 0), 32
        elif text[:2] in ("0d", "0D"):
            bits, width = int(f"0x{text[2:]}", 0), 64
        else:
            bits, width = struct.unpack("<Q", struct.pack("<d", float(text)))[0], 64
        return model.Float(bits ^ (1 << width - 1) if negative else bits, width)

    def number(self) -> model.Integer | model.Float:
        ahead = 1 if self.peek() == "-" else 0
        if self._tokens[self._at + ahead].kind == "float":
            return self.float()
        return model.Integer(self.integer())

    def offset(self) -> int:
        """``+n``, ``-n``, ``+-n`` or nothing."""
        if self.accept("+"):
            return self.integer()
        return self.integer() if self.peek() == "-" else 0
