/* What scripts for batches, for adoption and for the inbox say in Lua; redis_script.c puts them together. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_LUA_H
#define SOLVEGATE_STORE_REDIS_REDIS_LUA_H

extern const char lua_chest[], lua_adopt[], lua_empty[], lua_tell[], lua_inbox[], lua_tidy[];
/* For batches, in this order; all but the first and the last are defined for the next ones. */
extern const char lua_index[], lua_write_begin[], lua_rows[], lua_releases[], lua_decide_by_key[],
    lua_decide_by_end[], lua_claim[], lua_write[];

#endif
