#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_open(const char *path, const char **why)
{
    struct stat facts;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &facts) != 0) {
        *why = strerror(errno);
    } else if (S_ISDIR(facts.st_mode)) {
        *why = strerror(EISDIR);
    } else if (!S_ISREG(facts.st_mode)) {
        *why = "it is no regular file";
    } else {
        return fd;
    }
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

bool file_is_regular(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

enum file_folder file_folder(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) == 0)
        return S_ISDIR(facts.st_mode) ? FILE_FOLDER_FINE : FILE_FOLDER_OTHER;
    if (errno == ENOTDIR)
        return FILE_FOLDER_OTHER;
    return errno == ENOENT ? FILE_FOLDER_MISSING : FILE_FOLDER_FINE;
}

bool file_is_open_to_others(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}
