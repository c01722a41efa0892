/* An identity while it is being worked out; key.c and demands.c share it, nobody else. */
#ifndef SOLVEGATE_PROTO_IDENTITY_PRIVATE_H
#define SOLVEGATE_PROTO_IDENTITY_PRIVATE_H

#include "proto/key.h"
#include "proto/method.h"
#include "proto/names.h"

struct identity_work {
    const struct identity_options *options;
    const struct params *params;
    struct identity *identity;
    const struct method *method;                /* NULL when nobody documented it */
    const struct param *given[NAME_ROLE_COUNT]; /* only of roles that one name has */
    enum name_role roles[PARAMS_MAX];           /* of the params */
    bool has_file;                              /* some part is a file */
    bool has_once;                              /* something with the role NAME_ONCE was given */
    bool is_upload;                             /* one image, in the way its method wants it */
    char kinds[PARAMS_MAX];                     /* of identity->fields */
    char *at;                                   /* free scratch, reserved for the worst */
};

/* Sets the vendor's word and the sentence, and returns ERR_INVALID. */
int identity_fail(struct identity *identity, const char *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether something that is not empty was given. */
bool identity_has(const struct identity_work *work, enum name_role role);

/* Mistakes that can be seen before any image is decoded. Only what is certain: a method nobody
 * documented passes, the vendor will judge it. */
int identity_check_demands(const struct identity_work *work) MUST_CHECK;

/* A method of `post` or `base64` whose image does not decode or has an impossible size. */
int identity_check_image(const struct identity_work *work, bool is_decoded,
                         size_t bytes) MUST_CHECK;

#endif
