#include "proto/vendor_errors.h"

#define SECONDS(n) ((uint32_t)(n) * 1000)

#define ROW(code_text, class_word) {.code = SLICE_INIT(code_text), .class = CLASS_##class_word}
#define ROW_WAIT(code_text, class_word, wait) \
    {.code = SLICE_INIT(code_text), .class = CLASS_##class_word, .wait_ms = (wait)}

/* docs/design.md 5.5 has the classes, docs/protocol.md 3a and 3b the codes and the waits of
 * documented bans. Rows are in order of likelihood, since a search starts at the top: most polls
 * end in the first row. */
static const struct vendor_error TABLE[] = {
    ROW("CAPCHA_NOT_READY", PENDING),
    ROW("CAPTCHA_NOT_READY", PENDING),

    ROW("ERROR_NO_SLOT_AVAILABLE", BUSY),
    ROW("ERROR_TOO_MUCH_REQUESTS", BUSY),
    ROW_WAIT("MAX_USER_TURN", BUSY, SECONDS(10)),
    ROW_WAIT("ERROR: 1001", BUSY, SECONDS(600)),
    ROW_WAIT("ERROR: 1003", BUSY, SECONDS(30)),
    ROW_WAIT("ERROR: 1005", BUSY, SECONDS(600)),

    ROW("ERROR_CAPTCHA_UNSOLVABLE", UNSOLVABLE),
    ROW("ERROR_BAD_DUPLICATES", UNSOLVABLE),

    ROW("ERROR_SERVER_ERROR", TRANSIENT),
    ROW("ERROR_INTERNAL_SERVER_ERROR", TRANSIENT),

    ROW("ERROR_KEY_DOES_NOT_EXIST", ACCOUNT),
    ROW("ERROR_WRONG_USER_KEY", ACCOUNT),
    ROW("ERROR_IP_NOT_ALLOWED", ACCOUNT),
    /* In the vendor's reference this means "no free threads", elsewhere "no money": the engine
     * probes to find out which. */
    {.code = SLICE_INIT("ERROR_ZERO_BALANCE"), .class = CLASS_ACCOUNT, .is_short = true},
    ROW_WAIT("IP_BANNED", ACCOUNT, SECONDS(300)),
    ROW_WAIT("ERROR: 1002", ACCOUNT, SECONDS(300)),
    ROW_WAIT("ERROR: 1004", ACCOUNT, SECONDS(600)),

    ROW("ERROR_PAGEURL", CALLER),
    ROW("ERROR_GOOGLEKEY", CALLER),
    ROW("ERROR_WRONG_GOOGLEKEY", CALLER),
    ROW("ERROR_BAD_TOKEN_OR_PAGEURL", CALLER),
    ROW("ERROR_BAD_PARAMETERS", CALLER),
    ROW("ERROR_ZERO_CAPTCHA_FILESIZE", CALLER),
    ROW("ERROR_TOO_BIG_CAPTCHA_FILESIZE", CALLER),
    ROW("ERROR_WRONG_FILE_EXTENSION", CALLER),
    ROW("ERROR_IMAGE_TYPE_NOT_SUPPORTED", CALLER),
    ROW("ERROR_UPLOAD", CALLER),
    ROW("ERROR_WRONG_CAPTCHA_ID", CALLER),
    ROW("ERROR_WRONG_ID_FORMAT", CALLER),
    ROW("ERROR_EMPTY_ACTION", CALLER),
    ROW("ERROR_DOMAIN_NOT_ALLOWED", CALLER),
    ROW("ERROR_EMPTY_CAPTCHA", CALLER),
    ROW("ERROR_CAPTCHAIMAGE_BLOCKED", CALLER),
    ROW("TOO_MANY_BAD_IMAGES", CALLER),
    ROW("REPORT_NOT_RECORDED", CALLER),
    ROW("ERROR_REPORT_NOT_RECORDED", CALLER),
    ROW("ERROR_DUPLICATE_REPORT", CALLER),
    ROW("ERROR_IP_ADDRES", CALLER),
    ROW("ERROR_TOKEN_EXPIRED", CALLER),
    ROW("ERROR_CAPTCHA_ID", CALLER),
    /* A URL instead of a code: Google's own pages need data-s (docs/protocol.md 3b). */
    ROW("https://2captcha.com/blog/google-search-recaptcha", CALLER),

    ROW("ERROR_BAD_PROXY", PROXY),
    ROW("ERROR_PROXY_CONNECTION_FAILED", PROXY),
};

const struct vendor_error *vendor_errors(size_t *count)
{
    *count = sizeof(TABLE) / sizeof(TABLE[0]);
    return TABLE;
}

static const struct vendor_error *table_row(struct slice code)
{
    for (size_t i = 0; i < sizeof(TABLE) / sizeof(TABLE[0]); i++)
        if (slice_equals(TABLE[i].code, code))
            return &TABLE[i];
    return NULL;
}

bool vendor_find_error(const struct vendor_options *options, struct slice code,
                       struct vendor_error *found)
{
    const struct vendor_error *row = table_row(code);
    *found = row != NULL ? *row : (struct vendor_error){.code = code, .class = CLASS_UNKNOWN};
    for (size_t i = 0; i < options->override_count; i++) {
        if (slice_equals(slice_from(options->overrides[i].code), code)) {
            found->class = options->overrides[i].class;
            return true;
        }
    }
    return row != NULL;
}

enum error_class vendor_classify(const struct vendor_options *options, struct slice code)
{
    struct vendor_error found;
    (void)vendor_find_error(options, code, &found);
    return found.class;
}

bool vendor_is_code(struct slice text)
{
    if (text.len == 0 || text.len >= ERROR_CODE_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' || c == ' '))
            return false;
    }
    return true;
}

bool vendor_is_error(const struct vendor_options *options, struct slice text)
{
    struct vendor_error found;
    if (vendor_find_error(options, text, &found))
        return true;
    /* An unlisted code must never be handed out as a solution either. */
    return vendor_is_code(text) && (slice_starts_with(text, SLICE_OF("ERROR_")) ||
                                    slice_starts_with(text, SLICE_OF("ERROR:")));
}
