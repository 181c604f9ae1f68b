"""The keywords, with their forms and meanings. The grammar says where they may stand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeywordWord:
    """A keyword: a form that it is written in, and what that means. `starts` a statement, or is a `value`, or joins parts of a statement.

    In `form` a word in capitals stands for what a user writes.
    """

    form: str
    meaning: str
    starts: bool = False
    value: bool = False


KEYWORDS: dict[str, KeywordWord] = {
    "fw": KeywordWord("fw 1", "The version of the language, the first statement.", starts=True),
    "problem": KeywordWord("problem NAME", "Names the program.", starts=True),
    "data": KeywordWord(
        "data NAME: TYPE from SOURCE",
        "Declares data: read from a source, written out behind `=`, or given at run time.",
        starts=True,
    ),
    "param": KeywordWord(
        "param NAME: TYPE = VALUE",
        "Declares a parameter, a number: its default, or the value given with `--set`.",
        starts=True,
    ),
    "var": KeywordWord("var NAME: TYPE in SET", "Declares a variable: what is solved for.", starts=True),
    "let": KeywordWord(
        "let NAME = EXPRESSION", "Names an expression, terms of the objective or a feature map.", starts=True
    ),
    "minimize": KeywordWord("minimize EXPRESSION", "The objective: a sum of convex terms.", starts=True),
    "maximize": KeywordWord("maximize EXPRESSION", "The objective: a sum of concave terms.", starts=True),
    "subject": KeywordWord(
        "subject to CONSTRAINT", "Begins the constraints, one a line or separated by commas.", starts=True
    ),
    "to": KeywordWord("subject to CONSTRAINT", "Begins the constraints, one a line or separated by commas."),
    "solve": KeywordWord(
        "solve OPTION = VALUE", "Options of the run. None of them changes what is minimised.", starts=True
    ),
    "in": KeywordWord("EXPRESSION in SET", "Membership in a set."),
    "of": KeywordWord("TYPE of TYPE", "What the blocks, entries or positions of a type are."),
    "from": KeywordWord("from SOURCE", "The source of the data declared since the source before."),
    "family": KeywordWord("family[T] of TYPE", "`T` blocks of one type."),
    "true": KeywordWord("true", "Yes, as the value of an argument.", value=True),
    "false": KeywordWord("false", "No, as the value of an argument.", value=True),
    "inf": KeywordWord("inf", "Infinity, as a bound.", value=True),
}
