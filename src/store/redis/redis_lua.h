/* What scripts for adoption and for the inbox say in Lua; redis_script.c puts them together. */
#ifndef SOLVEGATE_STORE_REDIS_REDIS_LUA_H
#define SOLVEGATE_STORE_REDIS_REDIS_LUA_H

extern const char lua_chest[], lua_adopt[], lua_empty[], lua_tell[], lua_inbox[], lua_tidy[];

#endif
