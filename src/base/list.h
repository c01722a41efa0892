/* Intrusive circular doubly linked list; the head is a node too, an idle node points at itself. */
#ifndef SOLVEGATE_BASE_LIST_H
#define SOLVEGATE_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next;
    struct list *prev;
};

/* Makes an empty head or an idle node. */
static inline void list_init(struct list *node)
{
    node->next = node;
    node->prev = node;
}

/* For a head: it has no members. For a node: it is on no list. */
static inline bool list_is_empty(const struct list *head)
{
    return head->next == head;
}

static inline void list_insert_before(struct list *place, struct list *node)
{
    node->prev = place->prev;
    node->next = place;
    place->prev->next = node;
    place->prev = node;
}

static inline void list_append(struct list *head, struct list *node)
{
    list_insert_before(head, node);
}

static inline void list_prepend(struct list *head, struct list *node)
{
    list_insert_before(head->next, node);
}

/* Idempotent: an idle node stays idle. */
static inline void list_unlink(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

static inline struct list *list_first(struct list *head)
{
    return list_is_empty(head) ? NULL : head->next;
}

static inline struct list *list_last(struct list *head)
{
    return list_is_empty(head) ? NULL : head->prev;
}

/* Moves every member of from to the end of to; from becomes empty. */
static inline void list_splice(struct list *to, struct list *from)
{
    if (list_is_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    list_init(from);
}

/* O(n): for tests, checkers and pages a person reads. */
size_t list_length(const struct list *head);

/* Aborts if the links are inconsistent, or if the list is longer than limit. */
void list_check(const struct list *head, size_t limit);

#define LIST_FOR_EACH(node, head) \
    for (struct list *node = (head)->next; node != (head); node = node->next)

/* The current node may be unlinked or freed inside the body. */
#define LIST_FOR_EACH_SAFE(node, head)                                                \
    for (struct list *node = (head)->next, *node##_next = node->next; node != (head); \
         node = node##_next, node##_next = node->next)

#endif
