/* Completion scripts for zsh and fish. */
#ifndef SOLVEGATE_CLI_COMPLETION_OTHERS_H
#define SOLVEGATE_CLI_COMPLETION_OTHERS_H

#include "base/buf.h"

void completion_write_zsh(struct buf *out);
void completion_write_fish(struct buf *out);

#endif
