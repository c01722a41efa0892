/* The demands of methods on a request: mistakes found before anything is paid. */
#ifndef SOLVEGATE_PROTO_DEMANDS_H
#define SOLVEGATE_PROTO_DEMANDS_H

#include "proto/identity_private.h"

/* Sets the vendor's code and a sentence, and returns ERR_INVALID. */
int identity_fail(struct identity *identity, const char *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is the parameter given and not empty? */
bool identity_has(const struct identity_work *work, enum name_role role);

/* Detects mistakes before any image is decoded. Only certain ones count: an undocumented method
 * passes, and the vendor judges it. */
int identity_check_demands(const struct identity_work *work) MUST_CHECK;

/* Refuses an image of `post` or `base64` that does not decode or has an impossible size. */
int identity_check_image(const struct identity_work *work, bool is_decoded,
                         size_t bytes) MUST_CHECK;

#endif
