#include "cli/spark.h"

#define LEVELS 8

double spark_most(const double *values, size_t count)
{
    double most = SPARK_UNKNOWN;
    for (size_t i = 0; i < count; i++)
        if (values[i] > most)
            most = values[i];
    return most;
}

/* Rounded up, so that whatever is not nothing is higher than nothing. */
static int level_of(double value, double most)
{
    if (value <= 0 || most <= 0)
        return 0;
    const double part = value / most * (LEVELS - 1);
    const int level = (int)part + (part > (int)part ? 1 : 0);
    return level < LEVELS ? level : LEVELS - 1;
}

void spark_add(struct buf *out, const double *values, size_t count, double most, bool is_utf8)
{
    static const char *const blocks[LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char ascii[LEVELS + 1] = "_.:-=+*#";
    for (size_t i = 0; i < count; i++) {
        if (values[i] < 0)
            buf_add_char(out, ' ');
        else if (is_utf8)
            buf_add(out, slice_from(blocks[level_of(values[i], most)]));
        else
            buf_add_char(out, ascii[level_of(values[i], most)]);
    }
}
