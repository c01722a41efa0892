/* What gateways that share a store compare of their configurations: a digest of each part, in a text that holds
 * nothing secret. */
#ifndef SOLVEGATE_CONFIG_CONFIG_PARTS_H
#define SOLVEGATE_CONFIG_CONFIG_PARTS_H

#include "config/config.h"

enum config_part {
    PART_CLIENTS,
    PART_DEDUP,
    PART_LIFETIMES,
    PART_POOLS,
    PART_RETRIES,
    PART_VENDOR,
};
#define CONFIG_PARTS (PART_VENDOR + 1)

/* Room for the text of all parts: "clients:0123456789abcdef dedup:..." */
#define CONFIG_PARTS_TEXT_MAX 192

const char *config_part_name(enum config_part part);

/* Keys and passwords are in no part. Clients, hosts and pools may stand in any order. */
void config_parts_write(const struct config *config, char text[CONFIG_PARTS_TEXT_MAX]);

/* A bit for each part in which the texts differ. What only one of them knows, as one of another version may, does
 * not. */
unsigned config_parts_compare(const char *mine, const char *others);

/* "clients, pools" for their bits. */
void config_parts_list(unsigned parts, struct buf *out);

#endif
