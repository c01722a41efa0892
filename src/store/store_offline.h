/* Work on stores beside the gateway: preparing and inspecting. Every function blocks. */
#ifndef SOLVEGATE_STORE_STORE_OFFLINE_H
#define SOLVEGATE_STORE_STORE_OFFLINE_H

#include "store/store.h"

/* Creates or migrates what a gateway would at its first start; about gets lines on what is there now. Anything but
 * STORE_OPENED adds a sentence to mistake, as for the functions below. */
enum store_opening store_init(const struct store_place *place, struct buf *about,
                              struct buf *mistake);

/* Adds the statements that store_init() would run, without asking the server. */
enum store_opening store_print_schema(const struct store_place *place, struct buf *out,
                                      struct buf *mistake);

/* Adds lines about the store and whether it fits this program; locks and changes nothing. */
enum store_opening store_inspect(const struct store_place *place, struct buf *report,
                                 struct buf *mistake);

#endif
