#include "config/config_values.h"

#include "base/ascii.h"
#include "config/config_clients.h"
#include "proto/address.h"

#include <sodium.h>

/* Size of sun_path in sockaddr_un on Linux, including the NUL. */
#define UNIX_PATH_MAX_BYTES 108
/* RFC 1035: the longest name in text form. */
#define HOST_MAX 253
#define LABEL_MAX 63

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit duration_units[] = {
    {"d", UINT64_C(24) * 60 * 60 * 1000},
    {"h", 60 * 60 * 1000},
    {"m", 60 * 1000},
    {"s", 1000},
    {"ms", 1},
};

static const struct unit size_units[] = {
    {"GiB", UINT64_C(1) << 30},
    {"MiB", 1 << 20},
    {"KiB", 1 << 10},
    {"", 1},
};

static bool parse_with_unit(struct slice text, const struct unit *units, size_t count,
                            uint64_t *value)
{
    size_t digits = 0;
    while (digits < text.len && text.data[digits] >= '0' && text.data[digits] <= '9')
        digits++;
    unsigned long long number;
    if (!slice_to_u64((struct slice){.data = text.data, .len = digits}, &number))
        return false;
    const struct slice unit = slice_skip(text, digits);
    for (size_t i = 0; i < count; i++) {
        if (!slice_equals(unit, slice_from(units[i].name)))
            continue;
        if (number > UINT64_MAX / units[i].factor)
            return false;
        *value = number * units[i].factor;
        return true;
    }
    return false;
}

bool value_parse_duration(struct slice text, void *ms)
{
    return parse_with_unit(text, duration_units, sizeof duration_units / sizeof duration_units[0],
                           ms);
}

/* Uses the largest unit that divides the value; the last unit divides every value. */
static void write_with_unit(struct buf *out, const struct unit *units, uint64_t value)
{
    const struct unit *unit = units;
    while (unit->factor > 1 && (value < unit->factor || value % unit->factor != 0))
        unit++;
    buf_add_u64(out, value / unit->factor);
    buf_add(out, slice_from(unit->name));
}

void value_write_duration(struct buf *out, uint64_t ms)
{
    /* "0s" reads better than "0ms". */
    if (ms == 0)
        buf_add(out, SLICE_OF("0s"));
    else
        write_with_unit(out, duration_units, ms);
}

bool value_parse_size(struct slice text, void *bytes)
{
    return parse_with_unit(text, size_units, sizeof size_units / sizeof size_units[0], bytes);
}

void value_write_size(struct buf *out, uint64_t bytes)
{
    write_with_unit(out, size_units, bytes);
}

static bool copy_text(struct slice text, char *out, size_t room)
{
    if (text.len >= room || (text.len > 0 && memchr(text.data, '\0', text.len) != NULL))
        return false;
    if (text.len > 0)
        memcpy(out, text.data, text.len);
    out[text.len] = '\0';
    return true;
}

static bool parse_port(struct slice text, unsigned long long least)
{
    unsigned long long port;
    return slice_is_given(text) && text.len <= 5 && slice_to_u64(text, &port) && port >= least &&
           port <= 65535;
}

static bool parse_address(struct slice text, uint8_t address[ADDRESS_BYTES], bool *is_v4)
{
    *is_v4 = address_parse_v4(text, address);
    return *is_v4 || address_parse_v6(text, address);
}

/* Splits "host:port" or "[v6]:port"; *port is not given if there is none. The host has no brackets. */
static bool split_host_port(struct slice text, struct slice *host, struct slice *port, bool *is_v6)
{
    *port = SLICE_NONE;
    *is_v6 = text.len > 0 && text.data[0] == '[';
    const char *end = memchr(text.data, *is_v6 ? ']' : ':', text.len);
    if (*is_v6 && end == NULL)
        return false;
    const size_t start = *is_v6 ? 1 : 0;
    const size_t stop = end == NULL ? text.len : (size_t)(end - text.data);
    *host = (struct slice){.data = text.data + start, .len = stop - start};
    const size_t colon = *is_v6 ? stop + 1 : stop;
    if (colon >= text.len)
        return true;
    if (text.data[colon] != ':')
        return false;
    *port = slice_skip(text, colon + 1);
    return true;
}

bool value_parse_listen(struct slice text, void *out)
{
    const struct slice unix_prefix = SLICE_OF("unix:");
    if (slice_starts_with(text, unix_prefix))
        return text.len > unix_prefix.len && text.len - unix_prefix.len < UNIX_PATH_MAX_BYTES &&
               copy_text(text, out, CONFIG_TEXT_MAX);
    struct slice host, port;
    bool is_bracketed;
    if (text.len == 0 || !split_host_port(text, &host, &port, &is_bracketed) ||
        !parse_port(port, 0))
        return false;
    if (slice_equals_nocase(host, SLICE_OF("localhost")) && !is_bracketed) {
        char numeric[sizeof("127.0.0.1:65535")] = "127.0.0.1:";
        memcpy(numeric + 10, port.data, port.len);
        return copy_text((struct slice){.data = numeric, .len = 10 + port.len}, out,
                         CONFIG_TEXT_MAX);
    }
    uint8_t address[ADDRESS_BYTES];
    bool is_v4;
    return parse_address(host, address, &is_v4) && is_v4 == !is_bracketed &&
           copy_text(text, out, CONFIG_TEXT_MAX);
}

bool value_listen_is_local(const char *address)
{
    const struct slice text = slice_from(address);
    if (slice_starts_with(text, SLICE_OF("unix:")))
        return true;
    struct slice host, port;
    bool is_bracketed, is_v4;
    uint8_t bytes[ADDRESS_BYTES];
    return text.len > 0 && split_host_port(text, &host, &port, &is_bracketed) &&
           parse_address(host, bytes, &is_v4) && address_is_loopback(bytes);
}

bool value_parse_network(struct slice text, void *place)
{
    struct network *const network = place;
    if (text.len == 0)
        return false;
    const char *slash = memchr(text.data, '/', text.len);
    const size_t host_len = slash == NULL ? text.len : (size_t)(slash - text.data);
    bool is_v4;
    if (!parse_address((struct slice){.data = text.data, .len = host_len}, network->address,
                       &is_v4))
        return false;
    const unsigned most = is_v4 ? 32 : 128;
    unsigned long long bits = most;
    if (slash != NULL) {
        const struct slice rest = {.data = slash + 1, .len = text.len - host_len - 1};
        if (!slice_to_u64(rest, &bits) || bits > most)
            return false;
    }
    network->prefix_bits = (uint8_t)(bits + (is_v4 ? 96 : 0));
    for (unsigned i = network->prefix_bits; i < 128; i++)
        network->address[i / 8] &= (uint8_t)~(0x80u >> (i % 8));
    return true;
}

static bool is_label_char(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '_';
}

/* Accepts dot-separated labels as in RFC 1123, and '_', which real names contain. */
static bool is_host_name(struct slice text)
{
    if (text.len == 0 || text.len > HOST_MAX)
        return false;
    size_t label = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && is_label_char(text.data[i])) {
            label++;
            continue;
        }
        if (i < text.len && text.data[i] != '.')
            return false;
        if (label == 0 || label > LABEL_MAX)
            return false;
        if (text.data[i - 1] == '-' || text.data[i - label] == '-')
            return false;
        label = 0;
    }
    return true;
}

static void lower(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        text[i] = ascii_lower(text[i]);
}

/* The part between the scheme and the path. */
static struct slice url_authority(struct slice url)
{
    (void)slice_take(&url, ':');
    if (!slice_starts_with(url, SLICE_OF("//")))
        return SLICE_NONE;
    url = slice_skip(url, 2);
    return slice_take(&url, '/');
}

static bool url_chars_are_plain(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] <= ' ' || text.data[i] > '~' ||
            strchr("?#\"<>\\^`{|}", text.data[i]) != NULL)
            return false;
    return true;
}

bool value_parse_url(struct slice text, void *place)
{
    char *const out = place;
    if (!url_chars_are_plain(text) || !copy_text(text, out, CONFIG_TEXT_MAX))
        return false;
    size_t len = text.len;
    while (len > 0 && out[len - 1] == '/')
        out[--len] = '\0';
    const struct slice authority = url_authority((struct slice){.data = out, .len = len});
    if (authority.len == 0)
        return false;
    lower(out, (size_t)(authority.data - out) + authority.len);
    if (!slice_starts_with(slice_from(out), SLICE_OF("https://")) &&
        !slice_starts_with(slice_from(out), SLICE_OF("http://")))
        return false;
    struct slice host, port;
    bool is_bracketed, is_v4;
    uint8_t address[ADDRESS_BYTES];
    if (!split_host_port(authority, &host, &port, &is_bracketed))
        return false;
    if (slice_is_given(port) && !parse_port(port, 1))
        return false;
    return is_bracketed ? parse_address(host, address, &is_v4) && !is_v4 : is_host_name(host);
}

bool value_url_is_https(const char *url)
{
    return slice_starts_with(slice_from(url), SLICE_OF("https://"));
}

bool value_url_is_loopback(const char *url)
{
    const struct slice authority = url_authority(slice_from(url));
    struct slice host, port;
    bool is_bracketed, is_v4;
    uint8_t address[ADDRESS_BYTES];
    if (authority.len == 0 || !split_host_port(authority, &host, &port, &is_bracketed))
        return false;
    if (slice_equals(host, SLICE_OF("localhost")))
        return true;
    return parse_address(host, address, &is_v4) && address_is_loopback(address);
}

/* True for an address: its last label is a number, that of a name never is (RFC 3696 section 2). */
static bool ends_in_number(struct slice host)
{
    size_t digits = 0;
    while (digits < host.len && host.data[host.len - digits - 1] >= '0' &&
           host.data[host.len - digits - 1] <= '9')
        digits++;
    return digits > 0 && (digits == host.len || host.data[host.len - digits - 1] == '.');
}

bool value_parse_host_pattern(struct slice text, void *out)
{
    if (text.len > 0 && text.data[text.len - 1] == '.')
        text.len--;
    if (text.len == 0 || !copy_text(text, out, CONFIG_TEXT_MAX))
        return false;
    lower(out, text.len);
    uint8_t address[ADDRESS_BYTES];
    bool is_v4;
    if (text.data[0] == '[')
        return text.data[text.len - 1] == ']' &&
               parse_address((struct slice){.data = text.data + 1, .len = text.len - 2}, address,
                             &is_v4) &&
               !is_v4;
    /* A pattern like "*.0.0.1" would match parts of addresses. */
    const bool is_wild = slice_starts_with(text, SLICE_OF("*."));
    const struct slice rest = {.data = text.data + (is_wild ? 2 : 0),
                               .len = text.len - (is_wild ? 2 : 0)};
    if (ends_in_number(rest))
        return !is_wild && parse_address(rest, address, &is_v4);
    return is_host_name(rest);
}

bool value_parse_notice_host(struct slice text, void *place)
{
    struct notice_host *const host = place;
    char pattern[CONFIG_TEXT_MAX];
    struct slice name, port;
    bool is_bracketed;
    unsigned long long number = 0;
    if (text.len == 0 || !split_host_port(text, &name, &port, &is_bracketed) ||
        (slice_is_given(port) && !(parse_port(port, 1) && slice_to_u64(port, &number))))
        return false;
    host->port = (uint16_t)number;
    name = (struct slice){.data = text.data, .len = name.len + (is_bracketed ? 2 : 0)};
    return value_parse_host_pattern(name, pattern) &&
           copy_text(slice_from(pattern), host->host, sizeof host->host);
}

bool value_parse_name(struct slice text, void *out)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_label_char(text.data[i]) && text.data[i] != '.')
            return false;
    return text.len > 0 && copy_text(text, out, CLIENT_NAME_MAX);
}

bool value_parse_text(struct slice text, void *out)
{
    return text.len > 0 && copy_text(text, out, CONFIG_TEXT_MAX);
}

bool value_parse_visible(struct slice text, void *out)
{
    return value_is_visible(text) && copy_text(text, out, CONFIG_TEXT_MAX);
}

bool value_is_visible(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < '!' || text.data[i] > '~')
            return false;
    return text.len > 0;
}

bool value_is_client_key_length(size_t len)
{
    return len == CLIENT_KEY_CHARS || len == CLIENT_KEY_LONG_CHARS;
}

bool value_is_client_key(struct slice text)
{
    return value_is_client_key_length(text.len) && value_is_visible(text);
}

bool value_parse_client_key(struct slice text, void *hash)
{
    if (!value_is_client_key(text))
        return false;
    config_hash_key(text, hash);
    return true;
}

bool value_parse_key_hash(struct slice text, void *out)
{
    size_t len = 0;
    return text.len == 2 * CLIENT_KEY_HASH_BYTES &&
           sodium_hex2bin(out, CLIENT_KEY_HASH_BYTES, text.data, text.len, NULL, &len, NULL) == 0 &&
           len == CLIENT_KEY_HASH_BYTES;
}
