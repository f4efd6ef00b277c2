/* What cJSON leaves to its callers. */
#ifndef GEN_JSON_H
#define GEN_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Makes `item` the object's member; the item, which may be NULL for one that could not be made, is deleted when it does
 * not become one. */
bool json_add(cJSON *object, const char *name, cJSON *item);

#endif
