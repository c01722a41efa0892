/* The reference of all options, for people. */
#ifndef SOLVEGATE_CONFIG_CONFIG_REFERENCE_H
#define SOLVEGATE_CONFIG_CONFIG_REFERENCE_H

#include "base/buf.h"

/* Writes every option with its default and a sentence, for `solvegate help config` and
 * docs/configuration.md. */
void config_write_reference(struct buf *out);
void config_write_markdown(struct buf *out);

#endif
