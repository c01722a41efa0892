/* Refcounted immutable bytes, shared by everyone who answers with them. Single-threaded. */
#ifndef SOLVEGATE_BASE_BLOB_H
#define SOLVEGATE_BASE_BLOB_H

#include "base/slice.h"

#include <stdint.h>

struct blob {
    uint32_t refs;
    uint32_t len;
    char data[]; /* followed by a NUL that len does not count */
};

/* Copies the bytes into a blob with one reference; aborts if memory runs out, so check sizes before. */
struct blob *blob_new(struct slice bytes);

/* A blob of len uninitialised bytes (the NUL is set), to be filled before it is shared. */
struct blob *blob_alloc(size_t len);

/* Both accept NULL. blob_unref frees the blob with its last reference. */
struct blob *blob_ref(struct blob *blob);
void blob_unref(struct blob *blob);

static inline struct slice blob_slice(const struct blob *blob)
{
    return blob == NULL ? SLICE_NONE : (struct slice){.data = blob->data, .len = blob->len};
}

void blob_check(const struct blob *blob);

#endif
