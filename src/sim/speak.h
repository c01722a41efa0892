/* Replies in the vendor's dialect, valid and faulty ones. */
#ifndef SOLVEGATE_SIM_SPEAK_H
#define SOLVEGATE_SIM_SPEAK_H

#include "sim/vendor.h"

/* The form of the reply to the current call, from its parameters. */
bool speak_is_json(const struct vendor *vendor);

/* Sets content type and CORS of a reply; true if it must be JSON. */
bool speak_begin(struct vendor *vendor, struct http_reply *reply);

/* Replaces the body by an error code. */
void speak_error(struct vendor *vendor, struct http_reply *reply, const char *code);

/* Writes a word that is not an error; in the plain form it stands alone. */
void speak_ok(struct vendor *vendor, struct http_reply *reply, struct slice word);

/* Applies the fault to the finished reply. */
void speak_fault(struct vendor *vendor, struct http_reply *reply, const struct fault *fault);

#endif
