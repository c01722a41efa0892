#include "proto/http_status.h"

const char *http_status_text(unsigned status)
{
    switch (status) {
#define TEXT(code, words) \
    case code:            \
        return words;
        HTTP_STATUS_LIST(TEXT)
#undef TEXT
    default:
        return "Error";
    }
}
