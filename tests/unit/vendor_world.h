/* Replies of the vendor's, read and judged. */
#ifndef SOLVEGATE_TESTS_VENDOR_WORLD_H
#define SOLVEGATE_TESTS_VENDOR_WORLD_H

#include "proto/vendor.h"

/* Without overrides. */
extern const struct vendor_options PLAIN;

/* One that arrived whole. */
struct vendor_reply reply_of(long status, struct slice body);

/* A submit's or a poll's; drop the result afterwards. */
struct vendor_result read_with(bool is_submit, const struct vendor_options *options,
                               struct vendor_reply reply);
void drop(const struct vendor_result *result);

/* A poll of this body is solved with this text and these further members (NULL for none). */
void assert_solved(const char *body, const char *text, const char *extra);
void assert_poll(const char *body, long status, enum outcome outcome, enum error_class class,
                 const char *code);

#endif
