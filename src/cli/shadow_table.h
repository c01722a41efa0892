/* What shadow mode found out, as sentences and tables (docs/design.md 5.11). */
#ifndef SOLVEGATE_CLI_SHADOW_TABLE_H
#define SOLVEGATE_CLI_SHADOW_TABLE_H

#include "cli/books_table.h"

struct yyjson_val;

/* Prints the headline, the savings by source, client and type over the span, the keys that repeat
 * most, and the advice by target. */
void shadow_print(struct yyjson_val *root, enum span span);

#endif
