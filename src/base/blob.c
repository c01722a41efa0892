#include "base/blob.h"

#include "base/assert.h"

#include <stdlib.h>

struct blob *blob_alloc(size_t len)
{
    ASSERT(len <= UINT32_MAX);
    ASSERT(len <= SIZE_MAX - sizeof(struct blob) - 1);
    struct blob *blob = malloc(sizeof *blob + len + 1);
    ASSERT(blob != NULL);
    blob->refs = 1;
    blob->len = (uint32_t)len;
    blob->data[len] = '\0';
    return blob;
}

struct blob *blob_new(struct slice bytes)
{
    struct blob *blob = blob_alloc(bytes.len);
    if (bytes.len > 0)
        memcpy(blob->data, bytes.data, bytes.len);
    return blob;
}

struct blob *blob_ref(struct blob *blob)
{
    if (blob == NULL)
        return NULL;
    ASSERT(blob->refs > 0 && blob->refs < UINT32_MAX);
    blob->refs++;
    return blob;
}

void blob_unref(struct blob *blob)
{
    if (blob == NULL)
        return;
    ASSERT(blob->refs > 0);
    blob->refs--;
    if (blob->refs == 0)
        free(blob);
}

void blob_check(const struct blob *blob)
{
    ASSERT(blob->refs > 0);
    ASSERT(blob->data[blob->len] == '\0');
}
