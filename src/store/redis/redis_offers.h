/* The part of the script for batches that finds solutions: those that all may have, and those that one takes. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_OFFERS_H
#define SOLVEGATE_STORE_REDIS_REDIS_OFFERS_H

extern const char redis_offers_source[];

#endif
