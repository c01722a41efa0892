/* Worlds in which several stories begin. */
#ifndef SOLVEGATE_TESTS_STORY_USUAL_WORLDS_H
#define SOLVEGATE_TESTS_STORY_USUAL_WORLDS_H

#include "world.h"

struct world *world_with_callbacks(void);

/* K was solved for ann, who hung up after the submit, so that TOKEN is banked. */
struct world *world_with_banked_token(enum reuse reuse);

#endif
