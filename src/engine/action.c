/* What an action owns is given back. */
#include "base/assert.h"

#include <solvegate/engine.h>

#include <stdlib.h>

void answer_close(struct answer *answer)
{
    blob_unref(answer->text);
    blob_unref(answer->extra);
}

void action_close(struct action *action)
{
    switch (action->kind) {
    case ACTION_ANSWER:
        answer_close(&action->answer);
        return;
    case ACTION_SUBMIT:
    case ACTION_POLL:
    case ACTION_REPORT:
        blob_unref(action->call.params);
        return;
    case ACTION_PAID:
        blob_unref(action->paid.params);
        return;
    case ACTION_NOTIFY:
        blob_unref(action->notify.url);
        blob_unref(action->notify.code);
        return;
    case ACTION_JOURNAL:
        record_close(&action->record);
        return;
    case ACTION_LETTERS:
        free(action->letters.found);
        return;
    case ACTION_SHOWN:
        blob_unref(action->shown.text);
        return;
    case ACTION_TELL:
        blob_unref(action->tell.result.text);
        blob_unref(action->tell.result.extra);
        return;
    case ACTION_ACCOUNT:
    case ACTION_ACK:
    case ACTION_PROBE:
    case ACTION_ALERT:
    case ACTION_WITHDRAW:
    case ACTION_CLAIM:
    case ACTION_RELEASE:
    case ACTION_FORGET:
    case ACTION_ADOPT:
    case ACTION_FIND:
    case ACTION_DRAW:
        return;
    }
    UNREACHABLE();
}
