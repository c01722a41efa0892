#include "cli/bench_books.h"

#include "cli/show.h"

#include <solvegate/words.h>
#include <stdio.h>
#include <yyjson.h>

/* Everything that went between the gateway and the vendor about captchas; account calls are not for any of them. */
static uint64_t vendor_calls(yyjson_val *total)
{
    static const char *const names[] = {"submits",        "polls",
                                        "callbacks_ok",   "callbacks_duplicate",
                                        "callbacks_late", "callbacks_unknown"};
    uint64_t calls = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        calls += show_number(total, names[i]);
    const uint64_t not_sent = show_number(total, "submits_not_sent");
    return calls > not_sent ? calls - not_sent : 0;
}

bool bench_books_read(struct slice json, struct bench_books *books)
{
    yyjson_doc *const doc = yyjson_read(json.data, json.len, 0);
    yyjson_val *const total = yyjson_obj_get(yyjson_doc_get_root(doc), "total");
    const bool is_known = show_has(total, "submits_accepted");
    *books = (struct bench_books){
        .requests = show_number(total, "requests"),
        .submits_paid = show_number(total, "submits_accepted"),
        .submits_refused = show_number(total, "submits_rejected"),
        .retries = show_number(total, "retries"),
        .polls = show_number(total, "polls"),
        .callbacks = show_number(total, "callbacks_ok"),
        .vendor_calls = vendor_calls(total),
        .money = show_real(total, "money_spent"),
        .has_money = show_has(total, "money_spent"),
    };
    for (int i = 0; i < SOURCE_COUNT; i++) {
        char name[48];
        (void)snprintf(name, sizeof name, "answered_%s", source_name((enum source)i));
        books->answered[i] = show_number(total, name);
    }
    yyjson_doc_free(doc);
    return is_known;
}

/* Behind a load balancer each look may be at another gateway, so those of a cluster are asked for the books of all. */
static enum remote_end ask(struct remote *remote, struct remote_reply *reply, bool *is_cluster)
{
    struct remote_request request = {.method = "GET", .path = "/v1/stats?scope=cluster"};
    const enum remote_end end = remote_send(remote, &request, reply);
    *is_cluster = end == REMOTE_ANSWERED && reply->status == 200;
    if (end != REMOTE_ANSWERED || *is_cluster)
        return end;
    request.path = "/v1/stats";
    return remote_send(remote, &request, reply);
}

enum bench_books_result bench_books_fetch(const struct command *command, struct remote *remote,
                                          struct bench_books *books, int *code)
{
    struct remote_reply reply;
    enum bench_books_result result = BOOKS_SECRET;
    bool is_cluster;
    remote_reply_init(&reply);
    const enum remote_end end = ask(remote, &reply, &is_cluster);
    if (end != REMOTE_ANSWERED) {
        *code = remote_tell(command, remote, end, &reply);
        result = BOOKS_UNREACHABLE;
    } else if (reply.status == 200 && bench_books_read(buf_slice(&reply.body), books)) {
        result = BOOKS_READ;
    }
    buf_close(&reply.body);
    books->is_cluster = is_cluster;
    return result;
}

/* A submit may prove not to have left after it was counted, so this counter can fall. */
static uint64_t added_to(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

struct bench_books bench_books_between(const struct bench_books *before,
                                       const struct bench_books *after)
{
    struct bench_books added = {
        .requests = after->requests - before->requests,
        .submits_paid = after->submits_paid - before->submits_paid,
        .submits_refused = after->submits_refused - before->submits_refused,
        .retries = after->retries - before->retries,
        .polls = after->polls - before->polls,
        .callbacks = after->callbacks - before->callbacks,
        .vendor_calls = added_to(before->vendor_calls, after->vendor_calls),
        .money = after->money - before->money,
        .has_money = after->has_money,
    };
    for (int i = 0; i < SOURCE_COUNT; i++)
        added.answered[i] = after->answered[i] - before->answered[i];
    return added;
}
