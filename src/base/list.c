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
        /* One step more than members brings us home; a lasso never would. */
        ASSERT(node == head || steps < limit);
        steps++;
    } while (node != head);
}
