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

#endif
