/* What --help prints. */
#ifndef SIM_HELP_H
#define SIM_HELP_H

void help_print(void);

#endif
