#include "sim/answer.h"

#include "base/assert.h"
#include "base/rand.h"
#include "sim/text.h"

static const char user_agent[] = "Mozilla/5.0 (X11; Linux x86_64) solvegate-sim";

void answer_add_id(struct buf *out, uint64_t number, enum id_form form)
{
    if (form == IDS_LONG)
        buf_addf(out, "%023llu", (unsigned long long)number);
    else
        buf_add_u64(out, number);
}

/* Only lower case and digits, so that no token contains ERROR, which some clients search for. Made
 * again for each read: stored tokens would cost memory for every task. */
static void add_filler(struct buf *out, struct rand *rand, size_t count)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
    char *place = buf_reserve(out, count);
    uint64_t bits = 0;

    if (place == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        if (i % 12 == 0)
            bits = rand_u64(rand);
        place[i] = alphabet[bits & 31];
        bits >>= 5;
    }
    buf_commit(out, count);
}

static void add_token(struct buf *out, const struct task *task, const struct answer_style *style,
                      bool is_other)
{
    const size_t start = out->len;
    struct rand rand;

    rand_init(&rand, style->seed ^ (task->number * 2 + (is_other ? 1 : 0)));
    buf_add(out, SLICE_OF("SIM_"));
    buf_add_u64(out, task->number);
    buf_add(out, is_other ? SLICE_OF("_other_") : SLICE_OF("_"));
    const size_t used = out->len - start;
    if (used < style->token_bytes)
        add_filler(out, &rand, style->token_bytes - used);
}

static void add_image_text(struct buf *out, const struct task *task, bool is_other)
{
    buf_add(out, is_other ? SLICE_OF("SIM_x") : SLICE_OF("SIM_"));
    for (uint64_t rest = task->number; rest > 0; rest /= 36)
        buf_add_char(out, "0123456789abcdefghijklmnopqrstuvwxyz"[rest % 36]);
}

/* About four of nine cells, chosen by the task's number; at least one. */
static void add_cells(struct buf *out, const struct task *task, const struct answer_style *style,
                      bool is_other)
{
    struct rand rand;
    bool is_first = true;

    rand_init(&rand, style->seed ^ (task->number * 2 + (is_other ? 1 : 0)));
    const uint64_t mask = rand_below(&rand, 511) + 1;
    buf_add_char(out, '[');
    for (unsigned cell = 0; cell < 9; cell++) {
        if ((mask >> cell & 1) == 0)
            continue;
        if (!is_first)
            buf_add_char(out, ',');
        buf_add_char(out, (char)('1' + cell));
        is_first = false;
    }
    buf_add_char(out, ']');
}

static struct slice agent_of(const struct task *task)
{
    return task->user_agent == NULL ? SLICE_OF(user_agent) : blob_slice(task->user_agent);
}

/* GeeTest's seccode is its validate with this fixed suffix. */
static void add_geetest(struct buf *out, const struct task *task, bool is_other)
{
    const unsigned long long number = task->number;
    const char *opinion = is_other ? "other" : "v";

    buf_addf(out,
             "{\"challenge\":\"SIM_%lluc\",\"validate\":\"SIM_%llu%s\","
             "\"seccode\":\"SIM_%llu%s|jordan\"}",
             number, number, opinion, number, opinion);
}

static void add_geetest_plain(struct buf *out, const struct task *task)
{
    const unsigned long long number = task->number;

    buf_addf(out, "challenge:SIM_%lluc,validate:SIM_%lluv,seccode:SIM_%lluv|jordan", number, number,
             number);
}

/* In these, # stands for the task's number and % for one below 300. */
static const char *object_of(enum answer_kind kind)
{
    switch (kind) {
    case ANSWER_GEETEST_4:
        return "{\"captcha_id\":\"SIM_#i\",\"lot_number\":\"SIM_#l\",\"pass_token\":\"SIM_#t\","
               "\"gen_time\":\"1700000000\",\"captcha_output\":\"SIM_#o\"}";
    case ANSWER_AMAZON:
        return "{\"captcha_voucher\":\"SIM_#v\",\"existing_token\":\"SIM_#e\"}";
    case ANSWER_LEMIN:
        return "{\"answer\":\"SIM_#a\",\"challenge_id\":\"SIM_#c\"}";
    case ANSWER_CAPY:
        return "{\"captchakey\":\"SIM_#k\",\"challengekey\":\"SIM_#c\",\"answer\":\"SIM_#a\"}";
    case ANSWER_TENCENT:
        return "{\"appid\":\"SIM_#i\",\"ret\":0,\"ticket\":\"SIM_#t\",\"randstr\":\"SIM_#r\"}";
    case ANSWER_POINTS:
        return "[{\"x\":%,\"y\":20},{\"x\":30,\"y\":%}]";
    case ANSWER_OUTLINE:
        return "[[{\"x\":%,\"y\":20},{\"x\":30,\"y\":%}],[{\"x\":1,\"y\":2}]]";
    case ANSWER_BOXES:
        return "[{\"xMin\":1,\"xMax\":%,\"yMin\":2,\"yMax\":40}]";
    case ANSWER_STEPS:
        return "{\"best_step\":7,\"answer\":\"SIM_#s\"}";
    case ANSWER_TOKEN:
    case ANSWER_TEXT:
    case ANSWER_CELLS:
    case ANSWER_ENTERPRISE:
    case ANSWER_CLEARANCE:
    case ANSWER_GEETEST:
    case ANSWER_AGENT:
    case ANSWER_NUMBER:
        break;
    }
    return NULL;
}

static void add_object(struct buf *out, const struct task *task, bool is_other)
{
    const char *at = object_of((enum answer_kind)task->kind);

    for (; *at != '\0'; at++) {
        if (*at == '%') {
            buf_add_u64(out, (task->number + (is_other ? 1 : 0)) % 300);
        } else if (*at == '#') {
            buf_add_u64(out, task->number);
            buf_add(out, is_other ? SLICE_OF("_other_") : SLICE_OF(""));
        } else {
            buf_add_char(out, *at);
        }
    }
}

void answer_add_text(struct buf *out, const struct task *task, const struct answer_style *style,
                     bool is_other)
{
    switch ((enum answer_kind)task->kind) {
    case ANSWER_TOKEN:
    case ANSWER_ENTERPRISE:
    case ANSWER_CLEARANCE:
    case ANSWER_AGENT:
        add_token(out, task, style, is_other);
        return;
    case ANSWER_NUMBER:
        buf_add_u64(out, (task->number + (is_other ? 1 : 0)) % 360);
        return;
    case ANSWER_GEETEST_4:
    case ANSWER_AMAZON:
    case ANSWER_LEMIN:
    case ANSWER_CAPY:
    case ANSWER_TENCENT:
    case ANSWER_POINTS:
    case ANSWER_OUTLINE:
    case ANSWER_BOXES:
    case ANSWER_STEPS:
        add_object(out, task, is_other);
        return;
    case ANSWER_TEXT:
        add_image_text(out, task, is_other);
        return;
    case ANSWER_CELLS:
        add_cells(out, task, style, is_other);
        return;
    case ANSWER_GEETEST:
        add_geetest(out, task, is_other);
        return;
    }
    UNREACHABLE();
}

void answer_add_plain(struct buf *out, const struct task *task, const struct answer_style *style,
                      struct slice price)
{
    buf_add(out, SLICE_OF("OK|"));
    if (task->kind == ANSWER_GEETEST) {
        add_geetest_plain(out, task);
    } else if (task->kind == ANSWER_CLEARANCE) {
        buf_add(out, SLICE_OF("cf_clearance="));
        add_token(out, task, style, false);
        buf_add(out, SLICE_OF(";user_agent="));
        buf_add(out, agent_of(task));
    } else {
        answer_add_text(out, task, style, false);
    }
    if (slice_is_given(price)) {
        buf_add_char(out, '|');
        buf_add(out, price);
    }
}

static void add_result_and_agent(struct buf *out, const struct task *task,
                                 const struct answer_style *style)
{
    buf_add(out, SLICE_OF("{\"status\":1,\"result\":\""));
    add_token(out, task, style, false);
    buf_add(out, SLICE_OF("\",\"user_agent\":"));
    text_add_json(out, agent_of(task));
}

/* The third form seen in practice: a JSON document inside the request string. */
static void add_clearance_request(struct buf *out, const struct task *task,
                                  const struct answer_style *style)
{
    struct buf inner;

    buf_init(&inner, 1 << 20);
    buf_add(&inner, SLICE_OF("{\"cookies\":{\"cf_clearance\":\""));
    add_token(&inner, task, style, false);
    buf_add(&inner, SLICE_OF("\"},\"userAgent\":"));
    text_add_json(&inner, agent_of(task));
    buf_add_char(&inner, '}');
    buf_add(out, SLICE_OF("{\"status\":1,\"request\":"));
    text_add_json(out, buf_slice(&inner));
    buf_close(&inner);
}

void answer_add_json(struct buf *out, const struct task *task, const struct answer_style *style,
                     struct slice price)
{
    if (task->kind == ANSWER_GEETEST) {
        add_geetest(out, task, false);
        return;
    }
    if (task->kind == ANSWER_CLEARANCE && style->clearance == CLEARANCE_REQUEST) {
        add_clearance_request(out, task, style);
    } else if (task->kind == ANSWER_CLEARANCE || task->kind == ANSWER_ENTERPRISE) {
        add_result_and_agent(out, task, style);
    } else if (object_of((enum answer_kind)task->kind) != NULL) {
        buf_add(out, SLICE_OF("{\"status\":1,\"request\":"));
        add_object(out, task, false);
    } else {
        /* Tokens, texts and cells need no escaping. */
        buf_add(out, SLICE_OF("{\"status\":1,\"request\":\""));
        answer_add_text(out, task, style, false);
        buf_add_char(out, '"');
    }
    if (task->kind == ANSWER_AGENT) {
        buf_addf(out,
                 ",\"respKey\":\"SIM_%lluk\",\"useragent\":", (unsigned long long)task->number);
        text_add_json(out, agent_of(task));
    }
    if (slice_is_given(price)) {
        buf_add(out, SLICE_OF(",\"price\":\""));
        buf_add(out, price);
        buf_add_char(out, '"');
    }
    buf_add_char(out, '}');
}
