#include "base/list.h"

#include "base/assert.h"

size_t list_length(const struct list *head)
{
    size_t length = 0;
    for (const struct list *node = head->next; node != head; node = node->next)
        length++;
    return length;
}

void list_check(const struct list *head, size_t limit)
{
    size_t steps = 0;
    const struct list *node = head;
    do {
        ASSERT(node->next != NULL);
        ASSERT(node->next->prev == node);
        node = node->next;
        /* A sound list returns to its head within members + 1 steps; a broken one may loop without it. */
        ASSERT(node == head || steps < limit);
        steps++;
    } while (node != head);
}
