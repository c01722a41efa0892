/* The OpenAPI document, put into the binary at build time from openapi.json beside this file. */
#ifndef SOLVEGATE_DOORS_OPENAPI_H
#define SOLVEGATE_DOORS_OPENAPI_H

#include "base/slice.h"

struct slice openapi_document(void);

#endif
