// Ends of lines. A line goes on where the next one starts with `from`, `in`, `of`, a closing bracket, a comparison, `*`, `/` or `@`, and in `let` and
// the objective also with `+` or `-`; elsewhere (behind an operator, in brackets) the grammar asks for no end. The rule is that of grammar/lines.py.
#include "tree_sitter/parser.h"

#include <string.h>
#include <wctype.h>

enum TokenType { END, END_SUM, ERROR_SENTINEL };

void *tree_sitter_fw_external_scanner_create(void) { return NULL; }
void tree_sitter_fw_external_scanner_destroy(void *payload) { (void)payload; }
unsigned tree_sitter_fw_external_scanner_serialize(void *payload, char *buffer) {
    (void)payload;
    (void)buffer;
    return 0;
}
void tree_sitter_fw_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
    (void)payload;
    (void)buffer;
    (void)length;
}

static bool is_of_name(int32_t c) { return c == '_' || iswalnum((wint_t)c); }

// Whether the word that starts here joins its line to the one before.
static bool joins(TSLexer *lexer) {
    char word[6] = {0};
    unsigned length = 0;
    while (is_of_name(lexer->lookahead) && length < 5) {
        if (lexer->lookahead > 127) return false;
        word[length++] = (char)lexer->lookahead;
        lexer->advance(lexer, false);
    }
    if (is_of_name(lexer->lookahead)) return false;
    return strcmp(word, "from") == 0 || strcmp(word, "in") == 0 || strcmp(word, "of") == 0;
}

static bool goes_on(TSLexer *lexer, bool of_sum) {
    switch (lexer->lookahead) {
        case '*': case '/': case '@': case ')': case ']': case '<': case '>': case '=':
        case 0x2264: case 0x2265: case 0x2208: case 0x00B7: // the signs for <=, >=, in and *
            return true;
        case '+': case '-':
            return of_sum;
        default:
            return joins(lexer);
    }
}

bool tree_sitter_fw_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
    (void)payload;
    if (valid[ERROR_SENTINEL] || !(valid[END] || valid[END_SUM])) return false;
    bool of_sum = valid[END_SUM];
    lexer->result_symbol = of_sum ? END_SUM : END;
    lexer->mark_end(lexer);
    bool broken = false;
    for (;;) {
        if (lexer->eof(lexer)) return true;
        if (lexer->lookahead == '\n') {
            broken = true;
            lexer->advance(lexer, true);
        } else if (iswspace((wint_t)lexer->lookahead)) {
            lexer->advance(lexer, true);
        } else if (lexer->lookahead == '#') {
            while (!lexer->eof(lexer) && lexer->lookahead != '\n') lexer->advance(lexer, true);
        } else {
            return broken && !goes_on(lexer, of_sum);
        }
    }
}
