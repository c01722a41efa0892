/* Parameters of a JSON body, and what other readers of JSON bodies need. */
#ifndef SOLVEGATE_PROTO_JSON_BODY_H
#define SOLVEGATE_PROTO_JSON_BODY_H

#include "proto/params.h"

struct yyjson_val;

/* As params_add_body. */
int params_add_json(struct params *params, struct slice body) MUST_CHECK;

/* Refuses JSON that is nested too deeply or has too many values to be read. */
int params_check_json(struct params *params, struct slice text) MUST_CHECK;

/* Reads a JSON text that was copied into the arena. *root lives until params_reset, as long as the
 * arena does not move: spare is how many bytes can be added to it before that. */
int params_parse_json(struct params *params, struct slice body, size_t spare,
                      struct yyjson_val **root) MUST_CHECK;

/* The text of a value: of an object or array its compact JSON, not given for null or nothing. */
int params_json_text(struct params *params, struct yyjson_val *value,
                     struct slice *text) MUST_CHECK;

#endif
