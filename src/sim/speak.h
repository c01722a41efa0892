/* Replies in the vendor's dialect, and replies that went wrong. */
#ifndef SOLVEGATE_SIM_SPEAK_H
#define SOLVEGATE_SIM_SPEAK_H

#include "sim/vendor.h"

/* The form of the reply to the call whose parameters are parsed. */
bool speak_is_json(const struct vendor *vendor);

/* Content type and CORS of a reply; true if it is to be JSON. */
bool speak_begin(struct vendor *vendor, struct http_reply *reply);

/* Replaces the body by an error code. */
void speak_error(struct vendor *vendor, struct http_reply *reply, const char *code);

/* A word that is no error; in the plain form it stands alone. */
void speak_ok(struct vendor *vendor, struct http_reply *reply, struct slice word);

/* Spoils the finished reply as the fault wants it. */
void speak_fault(struct vendor *vendor, struct http_reply *reply, const struct fault *fault);

#endif
