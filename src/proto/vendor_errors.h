/* The vendor's error codes as data: the class of each, and how long to wait after it. */
#ifndef SOLVEGATE_PROTO_VENDOR_ERRORS_H
#define SOLVEGATE_PROTO_VENDOR_ERRORS_H

#include "proto/vendor.h"

struct vendor_error {
    struct slice code;
    enum error_class class;
    uint32_t wait_ms; /* a documented ban or pause; 0 when there is none */
    bool is_short;    /* no money, or no free thread */
};

/* The whole table, for tests and documentation. */
const struct vendor_error *vendor_errors(size_t *count);

/* By exact name, overrides first; false if the code is unknown. */
bool vendor_find_error(const struct vendor_options *options, struct slice code,
                       struct vendor_error *found);

/* Is this text an error rather than an answer: a known code, or an unknown one in the vendor's style? */
bool vendor_is_error(const struct vendor_options *options, struct slice text);

/* 1 to 64 upper-case letters, digits, '_', ':' and spaces. */
bool vendor_is_code(struct slice text);

/* The error class of a code by exact name, overrides first; CLASS_UNKNOWN for unlisted codes. Never
 * by prefix: IP_BANNED, MAX_USER_TURN and "ERROR: 1001" are errors too. */
enum error_class vendor_classify(const struct vendor_options *options, struct slice code);

#endif
