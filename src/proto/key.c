#include "proto/key.h"

#include "base/assert.h"
#include "proto/demands.h"
#include "proto/digest.h"
#include "proto/identity_private.h"
#include "proto/pageurl.h"

#include <sodium.h>

_Static_assert(IDENTITY_SECRET_BYTES == DIGEST_SECRET_BYTES, "one secret for all digests");
_Static_assert(KEY_BYTES == DIGEST_BYTES, "a key is a digest");
_Static_assert(crypto_generichash_blake2b_SALTBYTES + crypto_generichash_blake2b_PERSONALBYTES ==
                   IDENTITY_SECRET_BYTES,
               "the secret is a salt and a personalisation");

/* Domains (idempotency.c has one more). None is a prefix of another, and the digit changes when the
 * rules of identity do. */
#define DOMAIN_IDENTITY SLICE_OF("sg.key.2")
#define DOMAIN_IMAGE SLICE_OF("sg.img.1")
#define DOMAIN_TEXT SLICE_OF("sg.txt.1")
#define DOMAIN_SCOPE SLICE_OF("sg.own.1")

/* How a field's value is encoded in the digested stream. The kind is part of it, so that no text
 * can be taken for the digest of an image. */
#define KIND_TEXT 'T'
#define KIND_LONG 'L'  /* digest of a long text, which keeps the stream small */
#define KIND_IMAGE 'I' /* digest of a file's or an image's bytes */

#define TEXT_MAX 512
/* Longer URLs are not normalised. */
#define PAGEURL_MAX 8192
#define PAGEURL_SPARE 64 /* a normaliser may add a slash or a port */
/* The beginning of an image's value in /v1/explain; the hex digest follows. */
#define IMAGE_TEXT_PREFIX "blake2b:"
#define IMAGE_TEXT_BYTES (sizeof(IMAGE_TEXT_PREFIX) - 1 + 2 * (size_t)DIGEST_BYTES)
/* The bytes that one field needs in scratch besides its name and a short value. */
#define FIELD_BYTES (IMAGE_TEXT_BYTES + 1 + 2 * (size_t)DIGEST_BYTES + 16)
#define FRONT_BYTES 128

_Static_assert(FRONT_BYTES + PAGEURL_MAX + PAGEURL_SPARE +
                       PARAMS_MAX * (FIELD_BYTES + PARAM_NAME_MAX + TEXT_MAX) <=
                   IDENTITY_SCRATCH_BYTES,
               "the scratch holds the worst case");

/* True for 0, false, no and the empty string, as real clients spell false (docs/protocol.md 8). */
static bool is_false(struct slice value)
{
    return value.len == 0 || slice_equals(value, SLICE_OF("0")) ||
           slice_equals_nocase(value, SLICE_OF("false")) ||
           slice_equals_nocase(value, SLICE_OF("no"));
}

static bool is_same(const struct param *a, const struct param *b)
{
    return a != NULL && b != NULL && slice_equals(a->value, b->value);
}

static bool is_recaptcha(const struct identity_work *work)
{
    return work->method != NULL && work->method->type == TYPE_RECAPTCHA_V2;
}

/* True for the empty one of file and body, which a real client sends along with the other. */
static bool is_empty_beside(const struct identity_work *work, enum name_role role)
{
    if (work->given[role] == NULL || work->given[role]->value.len > 0)
        return false;
    return role == NAME_BODY ? work->given[NAME_FILE] != NULL : identity_has(work, NAME_BODY);
}

static const struct param *given_image(const struct identity_work *work, enum name_role role)
{
    return is_empty_beside(work, role) ? NULL : work->given[role];
}

/* With further image fields it is unclear which one the vendor uses. */
static bool is_upload(const struct identity_work *work)
{
    const struct param *const file = given_image(work, NAME_FILE);
    const struct param *const body = given_image(work, NAME_BODY);
    if (work->method == NULL || work->given[NAME_IMAGE] != NULL || (file == NULL) == (body == NULL))
        return false;
    const bool is_file = file != NULL && slice_is_given(file->filename);
    const bool is_body = body != NULL && !slice_is_given(body->filename);
    const struct slice method = work->identity->method;
    if (slice_equals(method, SLICE_OF("post")))
        return is_file;
    if (slice_equals(method, SLICE_OF("base64")))
        return is_body;
    return slice_equals(method, SLICE_OF("rotatecaptcha")) && (is_file || is_body);
}

/* Finds the parameters and their roles. */
static void survey(struct identity_work *work)
{
    for (size_t i = 0; i < work->params->count; i++) {
        const struct param *const param = &work->params->items[i];
        work->roles[i] = name_role(param->name);
        work->given[work->roles[i]] = param;
        work->has_file |= slice_is_given(param->filename);
        work->has_once |= work->roles[i] == NAME_ONCE && param->value.len > 0;
    }
}

/* Unknown methods pass through, but no vendor's method has any other characters. */
static bool is_word(struct slice method)
{
    for (size_t i = 0; i < method.len; i++) {
        const char c = method.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-' || c == '.'))
            return false;
    }
    return true;
}

/* True if the site accepts an answer to this input only once, so that caching is useless. */
static bool is_one_time(const struct identity_work *work)
{
    if (!work->has_once || work->method == NULL)
        return false;
    for (size_t i = 0; i < METHOD_ONCE_MAX; i++)
        if (slice_is_given(work->method->once[i]) &&
            params_value(work->params, work->method->once[i]).len > 0)
            return true;
    return false;
}

static int choose_method(struct identity_work *work)
{
    struct identity *const identity = work->identity;
    identity->method = method_of(work->params);
    if (identity->method.len == 0)
        return identity_fail(identity, "ERROR_BAD_PARAMETERS", "method is missing");
    if (identity->method.len > PARAM_NAME_MAX)
        return identity_fail(identity, "ERROR_BAD_PARAMETERS", "method is longer than %d bytes",
                             PARAM_NAME_MAX);
    if (!is_word(identity->method))
        return identity_fail(identity, "ERROR_BAD_PARAMETERS",
                             "method is not a word of letters, digits, _, - and .");
    work->method = method_find(identity->method);
    work->is_upload = is_upload(work);
    identity->type = work->method == NULL ? TYPE_OTHER : work->method->type;
    const struct param *const version = work->given[NAME_VERSION];
    if (is_recaptcha(work) && version != NULL &&
        slice_equals_nocase(version->value, SLICE_OF("v3")))
        identity->type = TYPE_RECAPTCHA_V3;
    identity->is_one_time = is_one_time(work);
    return 0;
}

/* Is the parameter part of the identity (docs/design.md 5.1)? */
static bool is_counted(const struct identity_work *work, const struct param *param,
                       enum name_role role)
{
    switch (role) {
    case NAME_TRANSPORT:
    case NAME_METHOD:
        return false;
    case NAME_GOOGLEKEY:
        return !is_same(param, work->given[NAME_SITEKEY]);
    case NAME_USERAGENT:
        return !is_same(param, work->given[NAME_USER_AGENT]);
    case NAME_PROXY:
    case NAME_PROXYTYPE:
        /* The proxy counts if the method binds the answer to the egress address, or if the operator says so. */
        return work->options->include_proxy ||
               (work->method != NULL && (work->method->needs & METHOD_BINDS_PROXY) != 0);
    case NAME_FLAG:
        return !is_false(param->value);
    case NAME_VERSION:
        return !(is_recaptcha(work) && slice_equals_nocase(param->value, SLICE_OF("v2")));
    case NAME_OPTION:
        /* 0 spells the vendor's default of every option: any characters (numeric), any length, any
         * language, no phrase, no case, no arithmetic. */
        return !(work->identity->type == TYPE_IMAGE && is_false(param->value));
    case NAME_OTHER:
        /* A real client sends an empty action when it has none, and an empty value says nothing
         * about a picture. */
        return param->value.len > 0 || (work->identity->type != TYPE_IMAGE &&
                                        !slice_equals(param->name, SLICE_OF("action")));
    case NAME_BOOKKEEPING:
        return work->identity->type != TYPE_IMAGE;
    case NAME_PICTURE:
    case NAME_TEXTCAPTCHA:
        return work->identity->type != TYPE_IMAGE || param->value.len > 0;
    case NAME_FILE:
    case NAME_BODY:
        return work->identity->type != TYPE_IMAGE || !is_empty_beside(work, role);
    case NAME_SITEKEY:
    case NAME_PAGEURL:
    case NAME_USER_AGENT:
    case NAME_IMAGE:
    case NAME_ONCE:
    case NAME_ROLE_COUNT:
        return true;
    }
    return true;
}

/* Gives both spellings of a parameter one name. If both are given with different values, each keeps
 * its own name, because the vendor's choice is unknown. */
static struct slice canonical_name(const struct identity_work *work, const struct param *param,
                                   enum name_role role)
{
    if (role == NAME_GOOGLEKEY && work->given[NAME_SITEKEY] == NULL)
        return SLICE_OF("sitekey");
    if (role == NAME_USERAGENT && work->given[NAME_USER_AGENT] == NULL)
        return SLICE_OF("userAgent");
    if (work->is_upload && (role == NAME_FILE || role == NAME_BODY))
        return SLICE_OF("image");
    return param->name;
}

static struct slice canonical_pageurl(struct identity_work *work, struct slice url)
{
    struct slice normal;
    if (url.len > PAGEURL_MAX)
        return url;
    if (pageurl_normalize(url, work->at, &normal)) {
        if (normal.data == work->at)
            work->at += normal.len;
        return normal;
    }
    if (work->options->normalize_url == NULL)
        return url;
    const size_t room = url.len + PAGEURL_SPARE;
    const long len = work->options->normalize_url(url, work->at, room);
    /* A value that is not a URL is kept as it is; the vendor judges it. */
    if (len < 0 || (size_t)len > room)
        return url;
    normal = (struct slice){.data = work->at, .len = (size_t)len};
    work->at += len;
    return normal;
}

/* Writes "blake2b:" and hex for people, followed by the binary digest for the stream. */
static struct slice image_text(struct identity_work *work, const uint8_t digest[DIGEST_BYTES])
{
    char *const text = work->at;
    const size_t prefix = sizeof(IMAGE_TEXT_PREFIX) - 1;
    memcpy(text, IMAGE_TEXT_PREFIX, prefix);
    (void)sodium_bin2hex(text + prefix, 2 * (size_t)DIGEST_BYTES + 1, digest, DIGEST_BYTES);
    memcpy(text + IMAGE_TEXT_BYTES, digest, DIGEST_BYTES);
    work->at += IMAGE_TEXT_BYTES + DIGEST_BYTES;
    return (struct slice){.data = text, .len = IMAGE_TEXT_BYTES};
}

/* Files are digested by their bytes, and base64 by its decoded bytes in the fields where it is an
 * image; text there that is not base64 counts as it is. */
static int canonical_value(struct identity_work *work, const struct param *param,
                           enum name_role role, struct slice *value, char *kind)
{
    const uint8_t *const secret = work->options->secret;
    uint8_t digest[DIGEST_BYTES];
    const bool is_file = slice_is_given(param->filename);
    const bool is_base64 = !is_file && work->method != NULL &&
                           (work->method->needs & METHOD_HAS_IMAGES) != 0 &&
                           (role == NAME_BODY || role == NAME_IMAGE || role == NAME_PICTURE);
    size_t bytes = param->value.len;
    bool is_decoded = true;
    *value = role == NAME_PAGEURL ? canonical_pageurl(work, param->value) : param->value;
    *kind = value->len > TEXT_MAX ? KIND_LONG : KIND_TEXT;
    if (!is_file && !is_base64)
        return 0;
    if (is_file)
        digest_bytes(secret, DOMAIN_IMAGE, param->value, digest);
    else
        is_decoded = digest_base64(secret, DOMAIN_IMAGE, param->value, digest, &bytes);
    if (is_decoded) {
        *value = image_text(work, digest);
        *kind = KIND_IMAGE;
    }
    return role == NAME_FILE || role == NAME_BODY ? identity_check_image(work, is_decoded, bytes)
                                                  : 0;
}

static bool is_before(struct slice a, struct slice b)
{
    const size_t shorter = a.len < b.len ? a.len : b.len;
    if (a.data[0] != b.data[0]) /* names are never empty */
        return (unsigned char)a.data[0] < (unsigned char)b.data[0];
    const int order = memcmp(a.data, b.data, shorter);
    return order != 0 ? order < 0 : a.len < b.len;
}

/* Insertion keeps the few fields sorted. */
static void add_field(struct identity_work *work, struct slice name, struct slice value, char kind)
{
    struct identity_field *const fields = work->identity->fields;
    size_t place = work->identity->field_count++;
    for (; place > 0 && is_before(name, fields[place - 1].name); place--) {
        fields[place] = fields[place - 1];
        work->kinds[place] = work->kinds[place - 1];
    }
    fields[place] = (struct identity_field){.name = name, .value = value};
    work->kinds[place] = kind;
}

static int collect_fields(struct identity_work *work)
{
    struct identity *const identity = work->identity;
    for (size_t i = 0; i < work->params->count; i++) {
        const struct param *const param = &work->params->items[i];
        const enum name_role role = work->roles[i];
        struct slice value;
        char kind;
        if (!is_counted(work, param, role)) {
            if (role != NAME_METHOD)
                identity->ignored[identity->ignored_count++] = param->name;
            continue;
        }
        const int code = canonical_value(work, param, role, &value, &kind);
        if (code != 0)
            return code;
        add_field(work, canonical_name(work, param, role), value, kind);
    }
    return 0;
}

static char *put(char *at, const void *data, size_t len)
{
    if (len > 0)
        memcpy(at, data, len);
    return at + len;
}

/* Writes kind, length and bytes of the name, then the value: text with its length, a digest with
 * its fixed length. The encoding is unambiguous. */
static char *put_field(char *at, const struct identity_options *options,
                       const struct identity_field *field, char kind)
{
    *at++ = kind;
    *at++ = (char)field->name.len;
    at = put(at, field->name.data, field->name.len);
    if (kind == KIND_IMAGE)
        return put(at, field->value.data + IMAGE_TEXT_BYTES, DIGEST_BYTES);
    if (kind == KIND_LONG) {
        digest_bytes(options->secret, DOMAIN_TEXT, field->value, (uint8_t *)at);
        return at + DIGEST_BYTES;
    }
    *at++ = (char)(field->value.len & 0xff);
    *at++ = (char)(field->value.len >> 8);
    return put(at, field->value.data, field->value.len);
}

/* A file under `post` and its base64 under `base64` are the same request, so both are digested
 * under one method: the empty one, which nobody can ask for by name. */
static struct slice hashed_method(const struct identity_work *work)
{
    if (work->is_upload && (work->method->needs & METHOD_NEEDS_IMAGE) != 0)
        return SLICE_OF("");
    return work->identity->method;
}

/* The secret is used as BLAKE2b's salt and personalisation, which are part of its initial state. As
 * a key it would fill a block of its own, and cost a third more on every request. */
static void compute_key(struct identity_work *work, const struct identity_scope *scope)
{
    const struct slice method = hashed_method(work);
    const bool is_global = work->options->is_global;
    const uint8_t *const secret = is_global ? work->options->secret : scope->secret;
    char *const stream = work->at;
    char *at = put(stream, DOMAIN_IDENTITY.data, DOMAIN_IDENTITY.len);
    *at++ = is_global ? 'G' : 'C';
    *at++ = (char)method.len;
    at = put(at, method.data, method.len);
    for (size_t i = 0; i < work->identity->field_count; i++)
        at = put_field(at, work->options, &work->identity->fields[i], work->kinds[i]);
    const int code = crypto_generichash_blake2b_salt_personal(
        work->identity->key.bytes, KEY_BYTES, (const uint8_t *)stream, (size_t)(at - stream), NULL,
        0, secret, secret + crypto_generichash_blake2b_SALTBYTES);
    ASSERT(code == 0);
    work->at = at;
}

struct identity_scope identity_scope_of(const struct identity_options *options, struct slice client)
{
    struct identity_scope scope;
    digest_bytes(options->secret, DOMAIN_SCOPE, client, scope.secret);
    return scope;
}

/* Scratch is reserved once, because fields point into it and it must not move. */
static size_t scratch_bound(const struct params *params)
{
    size_t bound = FRONT_BYTES + PAGEURL_SPARE;
    size_t longest = 0;
    for (size_t i = 0; i < params->count; i++) {
        const struct slice value = params->items[i].value;
        bound +=
            FIELD_BYTES + params->items[i].name.len + (value.len < TEXT_MAX ? value.len : TEXT_MAX);
        longest = value.len > longest ? value.len : longest;
    }
    return bound + (longest < PAGEURL_MAX ? longest : PAGEURL_MAX);
}

int identity_compute(const struct identity_options *options, const struct params *params,
                     const struct identity_scope *scope, struct buf *scratch,
                     struct identity *identity)
{
    struct identity_work work;
    ASSERT(scratch->cap >= IDENTITY_SCRATCH_BYTES);
    /* Sets everything but the arrays, which are filled as far as they are used. */
    work.options = options;
    work.params = params;
    work.identity = identity;
    work.method = NULL;
    work.has_file = false;
    work.has_once = false;
    memset(work.given, 0, sizeof work.given);
    identity->field_count = 0;
    identity->ignored_count = 0;
    identity->mistake = NULL;
    identity->mistake_detail[0] = '\0';
    buf_reset(scratch);
    const size_t bound = scratch_bound(params);
    work.at = buf_reserve(scratch, bound);
    ASSERT(work.at != NULL);
    survey(&work);
    int code = choose_method(&work);
    if (code == 0)
        code = identity_check_demands(&work);
    if (code == 0)
        code = collect_fields(&work);
    if (code != 0)
        return code;
    compute_key(&work, scope);
    ASSERT((size_t)(work.at - scratch->data) <= bound);
    buf_commit(scratch, (size_t)(work.at - scratch->data));
    return 0;
}
