/* Files that the operator names: opened so that nothing can block. */
#ifndef SOLVEGATE_SYS_FILES_H
#define SOLVEGATE_SYS_FILES_H

#include <stdbool.h>

/* Opens a regular file for reading; anything else, such as a pipe, might make its reader wait for
 * ever. Returns the descriptor, or -1 and makes *why a text that lasts until the thread's next call. */
int file_open(const char *path, const char **why);

/* For files that another library opens. */
bool file_is_regular(const char *path);

/* Is it something else than a directory, or surely not there? One that we may not look at is given the doubt. */
enum file_folder { FILE_FOLDER_FINE, FILE_FOLDER_MISSING, FILE_FOLDER_OTHER };
enum file_folder file_folder(const char *path);

/* May anybody but its owner write to this file or directory? */
bool file_is_open_to_others(const char *path);

#endif
