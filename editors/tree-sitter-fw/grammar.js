/**
 * @file The grammar of `.fw`, version 1, for editors. The language's own grammar is grammar/fw.lark.
 *
 * Lines end statements where the scanner (src/scanner.c) says so, by the rule of grammar/lines.py.
 */
/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

const words = require("./words.json");

const PREC = { sum: 1, unary: 2, product: 3, postfix: 4 };

/** One or more, separated by commas. */
const list = (rule) => seq(rule, repeat(seq(",", rule)));

module.exports = grammar({
  name: "fw",

  // `_end` ends a line; `_end_sum` ends one whose next line may go on with `+` or `-`.
  externals: ($) => [$._end, $._end_sum, $._error_sentinel],
  extras: ($) => [/[\s\uFEFF]/, $.comment],
  word: ($) => $.name,

  rules: {
    program: ($) => repeat($._statement),

    _statement: ($) =>
      choice(
        seq(choice($.version, $.problem, $.data, $.param, $.var, $.solve), $._end),
        seq(choice($.let, $.objective), $._end_sum),
        $.subject_to,
      ),

    version: ($) => seq("fw", $.number),
    problem: ($) => seq("problem", field("name", $.name)),
    data: ($) => seq("data", list($.item)),
    param: ($) => seq("param", list($.item)),
    var: ($) => seq("var", list($.item)),
    let: ($) => seq("let", field("name", $.name), "=", field("value", $._expression)),
    objective: ($) => seq(field("sense", choice("minimize", "maximize")), field("value", $._expression)),
    subject_to: ($) => seq("subject", "to", repeat1(seq($.constraint, choice($._end, ",")))),
    solve: ($) => seq("solve", list($.option)),

    item: ($) =>
      seq(
        field("name", $.name),
        ":",
        field("type", choice($.type, alias($._other_type, $.type))),
        optional(seq(choice("in", "∈"), field("set", $._set))),
        optional(choice(seq("from", field("source", $.call)), seq("=", field("value", $._expression)))),
      ),

    type: ($) =>
      prec.right(
        seq(
          field("name", alias(choice(...words.types), $.type_name)),
          optional(seq("[", list($.dimension), "]")),
          optional(seq("of", field("of", choice($.type, $.dimension)))),
        ),
      ),
    // A type that is misspelt, or half written.
    _other_type: ($) => prec.right(seq(field("name", $.name), optional(seq("[", list($.dimension), "]")))),
    dimension: ($) => choice($.name, $.number, $.call),

    option: ($) => seq(field("name", $.name), "=", field("value", choice($._expression, $.duration))),
    duration: ($) => seq($.number, field("unit", $.name)),

    constraint: ($) => seq(optional($.label), choice($.comparison, $.member)),
    label: ($) => seq($.name, ":"),
    comparison: ($) =>
      seq($._expression, repeat1(seq(choice("<=", ">=", "==", "≤", "≥"), $._expression))),
    member: ($) => seq(field("value", $._expression), choice("in", "∈"), field("set", $._set)),
    _set: ($) => choice($.name, alias(choice(...words.types), $.name), $.call),

    _expression: ($) =>
      choice(
        $.sum,
        $.negation,
        $.product,
        $.transpose,
        $.index,
        $.call,
        $.group,
        $.list,
        $.name,
        $.number,
        $.string,
        $.constant,
      ),
    sum: ($) => prec.left(PREC.sum, seq($._expression, choice("+", "-"), $._expression)),
    negation: ($) => prec(PREC.unary, seq("-", $._expression)),
    product: ($) => prec.left(PREC.product, seq($._expression, choice("*", "·", "/", "@"), $._expression)),
    transpose: ($) => prec(PREC.postfix, seq($._expression, ".T")),
    index: ($) => prec(PREC.postfix, seq($._expression, "[", list(choice($._expression, $.slice)), "]")),
    slice: ($) => seq(optional($._expression), ":", optional($._expression)),
    group: ($) => seq("(", $._expression, ")"),
    list: ($) => seq("[", optional(list($._expression)), "]"),
    call: ($) =>
      prec(
        PREC.postfix + 1,
        seq(field("function", $.name), "(", optional(list(choice($._value, $.argument))), ")"),
      ),
    // Sets that are types too may stand in sets: `rows(nonnegative)`.
    _value: ($) => choice($._expression, alias(choice(...words.types), $.name)),
    argument: ($) => seq(field("name", $.name), "=", field("value", $._expression)),

    constant: (_) => choice("true", "false", "inf"),
    name: (_) => /[\p{L}_][\p{L}\p{N}\p{M}_]*/u,
    number: (_) => /(\d+(_\d+)*(\.\d+(_\d+)*)?|\.\d+(_\d+)*)([eE][+-]?\d+)?/,
    string: ($) => seq('"', repeat(choice($.escape, token.immediate(prec(1, /[^"\\\r\n]+/)))), token.immediate('"')),
    escape: (_) => token.immediate(/\\(u[0-9a-fA-F]{4}|[^\r\n])/),
    comment: (_) => token(prec(-1, /#[^\n]*/)),
  },
});
