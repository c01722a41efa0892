/* Replays a target's corpus without libFuzzer, so that every test run holds it against every compiler (TAP).
 *
 * usage: fuzz-replay-NAME FOLDER|FILE... */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FILES_MAX 100000
#define PATH_BYTES 4096
#define INPUT_MAX ((size_t)16 * 1024 * 1024)

static char *paths[FILES_MAX];
static size_t path_count;

static void add_path(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    const int len =
        snprintf(path, sizeof(path), "%s%s%s", folder, *folder == '\0' ? "" : "/", name);
    HOLDS(len > 0 && (size_t)len < sizeof(path) && path_count < FILES_MAX);
    paths[path_count++] = exact_copy((struct slice){.data = path, .len = (size_t)len + 1});
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A folder's files in the order of their names, or the file itself. */
static bool gather(const char *place)
{
    struct stat info;
    if (stat(place, &info) != 0)
        return false;
    if (!S_ISDIR(info.st_mode)) {
        add_path("", place);
        return true;
    }
    DIR *folder = opendir(place);
    if (folder == NULL)
        return false;
    const size_t first = path_count;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            add_path(place, entry->d_name);
    (void)closedir(folder);
    qsort(paths + first, path_count - first, sizeof(paths[0]), compare_paths);
    return true;
}

/* The input lies in memory of exactly its size, as libFuzzer gives it. */
static bool replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *room = malloc(INPUT_MAX);
    HOLDS(room != NULL);
    const size_t len = file == NULL ? 0 : fread(room, 1, INPUT_MAX, file);
    const bool is_read = file != NULL && ferror(file) == 0;
    if (file != NULL)
        (void)fclose(file);
    char *bytes = exact_copy((struct slice){.data = room, .len = len});
    free(room);
    if (is_read)
        (void)LLVMFuzzerTestOneInput((const uint8_t *)bytes, len);
    free(bytes);
    return is_read;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        if (!gather(argv[i]))
            (void)fprintf(stderr, "cannot read %s\n", argv[i]);
    /* An empty corpus would be a test that cannot fail. */
    (void)printf("1..%zu\n", path_count + 1);
    (void)printf("%s 1 - there are inputs to replay\n", path_count > 0 ? "ok" : "not ok");
    failed += path_count == 0;
    for (size_t i = 0; i < path_count; i++) {
        /* Said before, because a property that does not hold ends the process. */
        (void)printf("# replaying %s\n", paths[i]);
        (void)fflush(stdout);
        const bool is_good = replay(paths[i]);
        const char *name = strrchr(paths[i], '/');
        (void)printf("%s %zu - every property holds for %s\n", is_good ? "ok" : "not ok", i + 2,
                     name == NULL ? paths[i] : name + 1);
        failed += !is_good;
        free(paths[i]);
    }
    return failed == 0 ? 0 : 1;
}
