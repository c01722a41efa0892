#include "engine/undeliverable.h"

void undeliverable_enter(struct engine *engine, struct letter *letter)
{
    if (letter->kind != LETTER_OF_ANSWER)
        return;
    letter->answer.key = letter->key;
    table_insert(&engine->answers_by_key, &letter->answer);
}

void undeliverable_leave(struct engine *engine, struct letter *letter)
{
    if (letter->answer.place != NULL)
        table_remove(&engine->answers_by_key, &letter->answer);
}

struct letter *undeliverable_find(const struct engine *engine, const struct key *key,
                                  client_id client)
{
    for (struct table_node *node = table_find(&engine->answers_by_key, key); node != NULL;
         node = table_find_next(node)) {
        struct letter *letter = CONTAINER_OF(node, struct letter, answer);
        if (clients_may_share(engine, letter->client, client))
            return letter;
    }
    return NULL;
}
