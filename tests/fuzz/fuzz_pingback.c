/* The pingback path: only a genuine nonce opens it, one flipped bit does not, and whatever a callback then says is
 * either a solution fit to be handed out, an error in the shape of one, or nothing.
 *
 * Input: eight bytes of attempt, one that chooses the bit to flip, a line that stands in the nonce's place, then the
 * query of a genuine call. */
#include "feed.h"
#include "same.h"

#include "proto/form.h"
#include "proto/nonce.h"
#include "proto/vendor.h"
#include "proto/vendor_errors.h"
#include "proto/vendor_text.h"

#include <sodium.h>
#include <stdlib.h>

static const uint8_t secret[NONCE_SECRET_BYTES] = "a secret of the tests";
static const struct http_limits limits = {
    .url_bytes = 8192, .header_bytes = 16384, .body_bytes = 65536};

/* As door_pingback finds it; false when the bytes are no request for it. */
static bool read_path(const struct fed *fed, struct slice *nonce, struct slice *query)
{
    static const struct slice prefix = {"/pingback/", 10};
    struct slice path;
    if (fed->parsed != HTTP_PARSED_WHOLE)
        return false;
    http_parse_target(&fed->parse, fed->base, &path, query);
    if (!slice_starts_with(path, prefix))
        return false;
    *nonce = (struct slice){.data = path.data + prefix.len, .len = path.len - prefix.len};
    return true;
}

static void call(struct fed *fed, struct slice nonce, struct slice query)
{
    struct buf request;
    buf_init(&request, (size_t)1 << 20);
    buf_add(&request, SLICE_OF("GET /pingback/"));
    buf_add(&request, nonce);
    buf_add_char(&request, '?');
    buf_add(&request, query);
    buf_add(&request, SLICE_OF(" HTTP/1.1\r\nHost: gate\r\n\r\n"));
    feed_open(fed, &limits, buf_slice(&request), PIECES_DRAWN, query.len);
    buf_close(&request);
}

static void check_result(const struct vendor_result *result, struct slice code)
{
    const struct vendor_options options = {.override_count = 0};
    HOLDS(result->class < CLASS_COUNT);
    HOLDS(result->task_id[0] == '\0' || vendor_is_task_id(slice_from(result->task_id)));
    HOLDS((result->outcome == OUTCOME_SOLVED || result->outcome == OUTCOME_UNDELIVERABLE) ==
          (result->text != NULL));
    if (result->outcome == OUTCOME_SOLVED) {
        HOLDS(vendor_is_solution(code) && slice_equals(blob_slice(result->text), code));
        HOLDS(!vendor_is_error(&options, code) && result->code[0] == '\0');
    } else {
        HOLDS(vendor_is_code(slice_from(result->code)));
        HOLDS(result->outcome == OUTCOME_FAILED || result->outcome == OUTCOME_PENDING ||
              result->outcome == OUTCOME_UNHEARD || result->outcome == OUTCOME_UNDELIVERABLE);
    }
}

static void check_callback(struct slice query)
{
    const struct vendor_options options = {.override_count = 0};
    struct vendor_result result = {.attempt = 5, .caller = 6};
    struct params params;
    params_init(&params, PARAMS_CAP);
    const int status = params_add_form(&params, query);
    check_reading(&params, status);
    const struct slice code = params_value(&params, SLICE_OF("code"));
    if (status == 0 && code.len > 0) {
        vendor_read_callback(&options, params_value(&params, SLICE_OF("id")), code, &result);
        HOLDS(result.attempt == 5 && result.caller == 6 && result.extra == NULL);
        check_result(&result, code);
        blob_unref(result.text);
    }
    params_close(&params);
}

static void check_genuine(attempt_id attempt, struct slice query)
{
    char nonce[NONCE_CHARS + 1];
    const struct nonce told = {.attempt = attempt, .told_s = (uint32_t)attempt};
    struct nonce read = {.attempt = ~attempt};
    struct slice path_nonce, path_query;
    struct fed fed;
    nonce_write(secret, &told, nonce);
    call(&fed, slice_from(nonce), query);
    if (read_path(&fed, &path_nonce, &path_query)) {
        HOLDS(nonce_read(secret, path_nonce, &read));
        HOLDS(read.attempt == told.attempt && read.told_s == told.told_s);
        check_callback(path_query);
    }
    feed_close(&fed);
}

/* In every place, for a MAC of which only a part is compared is a MAC that can be guessed. */
static void check_flipped(attempt_id attempt, unsigned bit)
{
    char nonce[NONCE_CHARS + 1];
    const struct nonce told = {.attempt = attempt, .told_s = bit};
    struct nonce read = {.attempt = 1};
    for (size_t place = 0; place < NONCE_CHARS; place++) {
        nonce_write(secret, &told, nonce);
        nonce[place] ^= (char)(1U << bit % 8);
        HOLDS(!nonce_read(secret, (struct slice){.data = nonce, .len = NONCE_CHARS}, &read));
    }
    HOLDS(read.attempt == 1);
    /* Another secret is another gateway. */
    uint8_t other[NONCE_SECRET_BYTES];
    memcpy(other, secret, sizeof(other));
    other[bit % NONCE_SECRET_BYTES] ^= 1;
    nonce_write(secret, &told, nonce);
    HOLDS(!nonce_read(other, slice_from(nonce), &read));
}

static void check_stranger(struct slice line, struct slice query)
{
    char genuine[NONCE_CHARS + 1];
    struct slice nonce, path_query;
    struct nonce read;
    struct fed fed;
    call(&fed, line, query);
    if (read_path(&fed, &nonce, &path_query) && nonce_read(secret, nonce, &read) &&
        nonce.len == NONCE_CHARS) {
        /* Then it was ours, letter for letter. */
        nonce_write(secret, &read, genuine);
        HOLDS(slice_equals(nonce, slice_from(genuine)));
    }
    feed_close(&fed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.data = data, .len = size};
    HOLDS(sodium_init() >= 0);
    const attempt_id attempt = input_number(&input, 8);
    const unsigned bit = input_byte(&input);
    const struct slice line = input_line(&input);
    const struct slice query = input_rest(&input);
    check_genuine(attempt, query);
    check_flipped(attempt, bit);
    check_stranger(line, query);
    return 0;
}
