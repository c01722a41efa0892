/* Requests to the vendor as bytes. */
#ifndef SOLVEGATE_PROTO_VENDOR_WRITE_H
#define SOLVEGATE_PROTO_VENDOR_WRITE_H

#include "proto/vendor.h"

/* Writes the body of a submit: multipart if the packed params hold a file, else a urlencoded form.
 * Adds key, json=1 and, if given, pingback. content_type is a literal or lives in boundary. */
int vendor_write_submit(const struct blob *packed, struct slice api_key, struct slice pingback,
                        struct buf *body, struct buf *content_type) MUST_CHECK;

/* Writes the body of a query; task_id may be empty. */
void vendor_write_query(struct slice api_key, enum vendor_query query, struct slice task_id,
                        struct buf *body);

#endif
