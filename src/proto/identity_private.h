/* The working state of computing an identity, shared by key.c and demands.c only. */
#ifndef SOLVEGATE_PROTO_IDENTITY_PRIVATE_H
#define SOLVEGATE_PROTO_IDENTITY_PRIVATE_H

#include "proto/key.h"
#include "proto/method.h"
#include "proto/names.h"

struct identity_work {
    const struct identity_options *options;
    const struct params *params;
    struct identity *identity;
    const struct method *method;                /* NULL if the method is not documented */
    const struct param *given[NAME_ROLE_COUNT]; /* by role, for roles that have a single name */
    enum name_role roles[PARAMS_MAX];           /* role of each parameter */
    bool has_file;                              /* some part is a file */
    bool has_once;                              /* something with the role NAME_ONCE was given */
    bool is_upload;                             /* has one image, in the form its method wants */
    char kinds[PARAMS_MAX];                     /* kind of each of identity->fields */
    char *at;                                   /* free scratch, reserved for the worst case */
};

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
