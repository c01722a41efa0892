/* The thread that checks for damage beside the writer, since reading all of a large database takes
 * long. */
#ifndef SOLVEGATE_STORE_STORE_CHECK_H
#define SOLVEGATE_STORE_STORE_CHECK_H

#include "store/store.h"

void store_check_start(struct store *store);
/* Ends the check early; it then reports nothing. */
void store_check_stop(struct store *store);
void store_check_join(struct store *store);

#endif
