#include "upstream/ca_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define CERTIFICATE "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

static char folder[] = "/tmp/solvegate-ca-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[sizeof(folder) + 64];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "we");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static void a_directory_counts_by_its_hashed_names(void **state)
{
    (void)state;
    write_file("bundle.pem", CERTIFICATE "# in between\n" CERTIFICATE);
    char bundle[sizeof(folder) + 64];
    (void)snprintf(bundle, sizeof(bundle), "%s", path_of("bundle.pem"));
    assert_true(ca_file_is_good(bundle));
    assert_false(ca_directory_is_complete(folder, bundle));
    write_file("0a1b2c3d.0", CERTIFICATE);
    write_file("0a1b2c3d.r0", "");
    write_file("0A1B2C3D.0", "");
    write_file("0a1b2c3.0", "");
    write_file("0a1b2c3d.", "");
    assert_false(ca_directory_is_complete(folder, bundle));
    write_file("0a1b2c3d.1", CERTIFICATE);
    assert_true(ca_directory_is_complete(folder, bundle));
    write_file("bundle.pem", CERTIFICATE CERTIFICATE CERTIFICATE);
    assert_false(ca_directory_is_complete(folder, bundle));
    assert_true(ca_directory_is_complete(folder, NULL));
}

static void what_cannot_be_read_is_no_good(void **state)
{
    (void)state;
    write_file("empty.pem", "");
    assert_false(ca_file_is_good(path_of("empty.pem")));
    assert_false(ca_file_is_good(path_of("missing.pem")));
    assert_false(ca_directory_is_complete(path_of("missing"), NULL));
    assert_false(ca_directory_is_complete(NULL, NULL));
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"bundle.pem", "empty.pem", "0a1b2c3d.0", "0a1b2c3d.r0",
                                        "0A1B2C3D.0", "0a1b2c3.0", "0a1b2c3d.",  "0a1b2c3d.1"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)unlink(path_of(names[i]));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_counts_by_its_hashed_names),
        cmocka_unit_test(what_cannot_be_read_is_no_good),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
