/* What --help prints. */
#ifndef SOLVEGATE_SIM_HELP_H
#define SOLVEGATE_SIM_HELP_H

void help_print(void);

#endif
